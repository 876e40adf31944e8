//! `--facet brand:10`: how values and ranges are asked for, and how their counts are printed.

use std::io::{self, Write};

use serde_json::{Value, json};
use treepie::{Bucket, Facet, FacetCounts, FacetKind, FacetOrder, Interval, ValueFacet};

use super::value_to_json;
use crate::{
    failure::{Outcome, usage},
    output::{self, Output},
    terminal,
};

/// `brand`, `brand:20`, `brand:20,by=value`, `price:..10,10..50`, `since:month`, `since:day,zone=+02:00`.
pub(crate) fn read(typed: &str) -> Outcome<(&str, Facet)> {
    let Some((field, rest)) = typed.split_once(':') else {
        return Ok((typed, Facet::values(typed).into()));
    };
    let facet = if let Some(width) = rest.strip_prefix("step=") {
        Facet::steps(field, width)
    } else if let Some((interval, zone)) = interval_of_zone(rest) {
        Facet::intervals_in(field, interval, zone.parse()?)
    } else if rest.contains('=') {
        values_facet(field, rest)?.into()
    } else if rest.contains("..") {
        Facet::ranges(field, rest.split(',').map(str::parse).collect::<Result<Vec<_>, _>>()?)
    } else if let Ok(interval) = rest.parse() {
        Facet::intervals(field, interval)
    } else {
        let wrong = usage("reading --facet")
            .expected(
                "FIELD, FIELD:N, FIELD:N,OPTION=…, FIELD:FROM..TO,…, FIELD:step=N or FIELD:month and the like",
            )
            .found(format!("'{typed}'"));
        Facet::values(field).limit(rest.parse().map_err(|_| wrong)?).into()
    };
    Ok((field, facet))
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
    for (nth, option) in split_at_commas(options).iter().enumerate() {
        let (name, value) = match option.split_once('=') {
            Some(("", _)) => return Err(wrong("a name before =", option).into()),
            Some(pair) => pair,
            None => ("", option.as_str()),
        };
        // Texts and patterns may be several, of which a value has all.
        if seen.contains(&name.to_owned()) && matches!(name, "by" | "min" | "prefix" | "under") {
            return Err(wrong("each option once", option).into());
        }
        if value.is_empty() && matches!(name, "prefix" | "contains" | "regex") {
            return Err(wrong("a text behind =", option).into());
        }
        seen.push(name.to_owned());
        let number = |expected| value.parse::<u64>().map_err(|_| wrong(expected, option));
        facet = match name {
            "" if nth == 0 => facet.limit(number("a number of values, or OPTION=…")? as usize),
            "by" => facet.order(match value {
                "count" => FacetOrder::Count,
                "value" => FacetOrder::Value,
                "value:desc" => FacetOrder::ValueDescending,
                _ => return Err(wrong("by=count, by=value or by=value:desc", option).into()),
            }),
            "min" => match number("min=N, a number from 1 on")? {
                0 => return Err(wrong("min=N, a number from 1 on", option).into()),
                minimum => facet.minimum(minimum),
            },
            "prefix" => facet.prefix(value),
            "under" => facet.under(value),
            "contains" => facet.containing(value),
            "regex" => facet.matching(value),
            _ => {
                let expected =
                    "by=…, min=N, prefix=TEXT, under=PATH, contains=TEXT or regex=PATTERN";
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

pub(crate) fn to_json(facet: &FacetCounts) -> Value {
    let buckets: Vec<Value> = facet
        .buckets
        .iter()
        .map(|bucket| match facet.kind {
            FacetKind::Terms => {
                json!({ "value": value_to_json(&bucket.value), "count": bucket.count })
            }
            _ => json!({
                "from": bucket.from.as_ref().map(value_to_json),
                "to": bucket.to.as_ref().map(value_to_json),
                "count": bucket.count,
            }),
        })
        .collect();
    json!({
        "kind": facet.kind.name(),
        "buckets": buckets,
        "other": facet.other,
        "missing": facet.missing,
        "exact": facet.exact,
    })
}

/// `10..50`, as it is asked for.
pub(crate) fn range_label(bucket: &Bucket) -> String {
    let end = |end: &Option<treepie::Value>| {
        end.as_ref().map_or_else(String::new, |value| value.to_text().into_owned())
    };
    format!("{}..{}", end(&bucket.from), end(&bucket.to))
}

/// The name of the field, and [its values](print_values).
pub(crate) fn print(out: &mut Output, facet: &FacetCounts) -> io::Result<()> {
    writeln!(out, "\n{}", out.strong(&facet.field))?;
    print_values(out, facet)
}

/// The values of a facet with their counts, and what is not among them.
pub(crate) fn print_values(out: &mut Output, facet: &FacetCounts) -> io::Result<()> {
    let most = facet.buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let widest = output::grouped(most).len();
    let outside = [(facet.other, "(other values)"), (Some(facet.missing), "(none)")];
    let outside: Vec<_> = outside
        .into_iter()
        .filter_map(|(count, name)| Some((output::grouped(count.filter(|n| *n > 0)?), name)))
        .collect();
    let width = outside.iter().map(|(count, _)| count.len()).chain([widest]).max().unwrap_or(0);
    for bucket in &facet.buckets {
        let value = match facet.kind {
            FacetKind::Terms => bucket.value.to_text(),
            _ => range_label(bucket).into(),
        };
        let value = terminal::printable(&value);
        writeln!(out, "  {:>width$}  {value}", output::grouped(bucket.count))?;
    }
    for (count, name) in outside {
        writeln!(out, "  {}", out.dim(&format!("{count:>width$}  {name}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use treepie::FacetRange;

    #[test]
    fn facets_are_read() {
        let is = |typed: &str, expected: Facet| {
            let (field, read) = read(typed).unwrap();
            assert_eq!(field, typed.split(':').next().unwrap());
            assert_eq!(read, expected, "{typed}");
        };
        let brand = || Facet::values("brand");
        is("brand", brand().into());
        is("brand:3", brand().limit(3).into());
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
        is("price:step=0.5", Facet::steps("price", "0.5"));
        is("date:month", Facet::intervals("date", Interval::Month));
        let zone = "Europe/Berlin".parse().unwrap();
        let of_zone = Facet::intervals_in("date", Interval::Month, zone);
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
            ("brand:3,min=0", "a number from 1 on, found 'min=0'"),
            ("brand:3,min=many", "found 'min=many'"),
            (
                "brand:by=value,3",
                "prefix=TEXT, under=PATH, contains=TEXT or regex=PATTERN, found '3'",
            ),
            ("brand:prefix=a,prefix=b", "expected each option once, found 'prefix=b'"),
            ("brand:by=value,by=count", "expected each option once"),
            ("brand:prefix=", "expected a text behind =, found 'prefix='"),
            ("brand:=5", "expected a name before =, found '=5'"),
            ("brand:prefix=a,b", r"a comma within a text or a pattern is written \,"),
        ] {
            let Err(Failure::Error(error)) = read(typed) else { panic!("{typed}") };
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
