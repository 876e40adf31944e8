//! Meaning of `--score`, `--boost` and `--decay` of `search`.

use treepie::function::{Decay, FieldValue, Function, Modifier, ScoreFunction};
use treepie::geo::{Distance, GeoPoint};
use treepie::value::Dates;
use treepie::{FieldKind, Schema, SortKey, Timestamp, Value};

use super::DatesArgs;

use crate::failure::{Outcome, usage};

/// The options that change scores, of `search` and `explain` alike.
#[derive(Debug, clap::Args)]
pub(crate) struct Scoring {
    /// Score by an expression of _score and fields.
    ///
    /// Score by an expression of _score and fields of numbers, dates (seconds since 1970, as now is) and booleans:
    /// '_score * log1p(coalesce(sales, 0))'. A missing value makes the score 0. A field that is called now or _score
    /// stands between backquotes. Scores keep seven digits: '1 / (1 + (now - since) / 86400)' tells dates apart that
    /// since does not.
    #[arg(help_heading = "Order")]
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    score: Option<String>,
    /// Multiply the score by a field.
    ///
    /// By sales:log1p,factor=0.1,missing=1: FIELD[:MODIFIER][,factor=N][,missing=N][,sum]. Modifiers are ln, log1p,
    /// sqrt, square and reciprocal; with sum it is added; may be given several times. Of dates, whose seconds are
    /// large, those within two minutes score the same.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long = "boost", value_name = "FIELD[:OPTIONS]")]
    boosts: Vec<String>,
    /// Multiply the score by how near a field is to a value.
    ///
    /// FIELD:ORIGIN,SCALE[,SHAPE][,offset=N][,decay=N][,missing=N][,sum]: the origin is a number, a date, now or a
    /// point (48.85/2.35). The factor is 1 there and up to offset, and 0.5 (or decay) at SCALE beyond it, which for
    /// dates may be 90s, 12h, 30d or 4w, and for points is a distance (10km). Shapes are gauss, exp and linear; with
    /// sum it is added; may be given several times.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long = "decay", value_name = "FIELD:ORIGIN,SCALE")]
    decays: Vec<String>,
}

impl Scoring {
    /// The functions, in the order in which they are applied: the expression, then boosts, then decays.
    pub(crate) fn functions(
        &self,
        schema: &Schema,
        dates: &DatesArgs,
    ) -> Outcome<Vec<ScoreFunction>> {
        let mut functions = vec![];
        if let Some(text) = &self.score {
            let function = Function::expression(text)?.with("now", seconds(dates.now()));
            functions.push(ScoreFunction::replace(function));
        }
        for typed in &self.boosts {
            functions.push(boost(typed)?);
        }
        for typed in &self.decays {
            functions.push(decay(typed, schema, &dates.dates())?);
        }
        Ok(functions)
    }
}

/// Keys to sort by, in whose expressions `now` is a time.
pub(crate) fn sort_keys(typed: &str, schema: &Schema, now: Timestamp) -> Outcome<Vec<SortKey>> {
    let now = seconds(now);
    let keys = SortKey::list(typed).map_err(|error| match with_backquotes(typed, schema) {
        Some(meant) => error.hint(format!("did you mean '{meant}'?")),
        None => error,
    })?;
    if !are_known(&keys, schema)
        && let Some(meant) = with_backquotes(typed, schema)
    {
        return Err(usage("reading an order")
            .expected("names with other characters in them between backquotes")
            .found(format!("'{typed}'"))
            .hint(format!("did you mean '{meant}'?"))
            .into());
    }
    Ok(keys.into_iter().map(|key| key.with("now", now)).collect())
}

fn are_known(keys: &[SortKey], schema: &Schema) -> bool {
    keys.iter().filter_map(SortKey::field).all(|name| schema.field(name).is_some())
}

/// Text as it was typed, with backquotes around a name that needs them, where that makes keys of it.
fn with_backquotes(typed: &str, schema: &Schema) -> Option<String> {
    let mut names: Vec<&str> = schema.fields().iter().map(|field| &*field.name).collect();
    names.retain(|name| typed.contains(name) && name.contains([':', ',', '(', ')', '`']));
    // One may be a part of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.into_iter().find_map(|name| {
        let meant = typed.replacen(name, &format!("`{}`", name.replace('`', "``")), 1);
        SortKey::list(&meant).is_ok_and(|keys| are_known(&keys, schema)).then_some(meant)
    })
}

fn seconds(time: Timestamp) -> f64 {
    time.as_micros() as f64 / 1e6
}

/// `sales:log1p,factor=0.1`.
fn boost(typed: &str) -> Outcome<ScoreFunction> {
    let refused = || {
        let names: Vec<_> = Modifier::ALL.iter().map(|modifier| modifier.name()).collect();
        let expected = format!("FIELD[:{}][,factor=N][,missing=N][,sum]", names.join("|"));
        usage("reading --boost").expected(expected).found(format!("'{typed}'"))
    };
    let (field, options) = match typed.split_once([':', ',']) {
        Some((field, options)) => (field, options.split(',').collect()),
        None => (typed, vec![]),
    };
    if field.is_empty() {
        return Err(refused().into());
    }
    let (mut value, mut is_sum) = (FieldValue::new(field), false);
    let modifiers: Vec<_> = Modifier::ALL.iter().map(|modifier| modifier.name()).collect();
    refuse_twice("--boost", &options, &modifiers)?;
    for option in options {
        let named = Modifier::ALL.into_iter().find(|modifier| modifier.name() == option);
        value = match (option.split_once('='), named) {
            (_, Some(modifier)) => value.modifier(modifier),
            (Some(("factor", number)), _) => value.factor(number.parse().map_err(|_| refused())?),
            (Some(("missing", number)), _) => value.missing(number.parse().map_err(|_| refused())?),
            _ if option == "sum" => {
                is_sum = true;
                value
            }
            _ => return Err(refused().into()),
        };
    }
    Ok(if is_sum { ScoreFunction::sum(value) } else { ScoreFunction::multiply(value) })
}

/// Constructor of a decay, from a field, its origin and scale.
type NewDecay = fn(String, Value, f64) -> Decay;

/// `since:now,30d,exp`.
fn decay(typed: &str, schema: &Schema, dates: &Dates) -> Outcome<ScoreFunction> {
    let refused = || {
        usage("reading --decay")
            .expected(
                "FIELD:ORIGIN,SCALE[,gauss|exp|linear][,offset=N][,decay=N][,missing=N][,sum]",
            )
            .found(format!("'{typed}'"))
    };
    let parts = typed.split_once(':').and_then(|(field, rest)| {
        let (origin, rest) = rest.split_once(',')?;
        let (scale, options) = rest.split_once(',').unwrap_or((rest, ""));
        Some((field, origin, scale, options))
    });
    let (field, origin, scale, options) = parts.ok_or_else(refused)?;
    let kind = schema.field(field).map(|field| field.kind);
    let is_point = matches!(kind, Some(FieldKind::Point { .. }));
    let origin: Value = match is_point {
        true => point(origin, typed)?.into(),
        false => origin.into(),
    };
    let distance = |text: &str| -> Outcome<f64> {
        match is_point {
            true => Ok(text.parse::<Distance>()?.metres()),
            false => Ok(seconds_or_number(text).ok_or_else(refused)?),
        }
    };
    let scale = distance(scale)?;
    let shapes: [(&str, NewDecay); 3] =
        [("gauss", Decay::gauss), ("exp", Decay::exp), ("linear", Decay::linear)];
    let options: Vec<&str> = options.split(',').filter(|_| !options.is_empty()).collect();
    refuse_twice("--decay", &options, &shapes.map(|(name, _)| name))?;
    let named = |name: &str| options.contains(&name);
    let shape = shapes.iter().find(|(name, _)| named(name)).unwrap_or(&shapes[0]).1;
    let (mut decay, mut is_sum) = (shape(field.to_owned(), origin, scale), false);
    for option in &options {
        let number = |text: &str| text.parse::<f64>().map_err(|_| refused());
        decay = match option.split_once('=') {
            Some(("offset", far)) => decay.offset(distance(far)?),
            Some(("decay", own)) => decay.decay(number(own)?),
            Some(("missing", own)) => decay.missing(number(own)?),
            None if shapes.iter().any(|(name, _)| name == option) => decay,
            None if *option == "sum" => {
                is_sum = true;
                decay
            }
            _ => return Err(refused().into()),
        };
    }
    let decay = decay.at(schema, dates)?;
    Ok(if is_sum { ScoreFunction::sum(decay) } else { ScoreFunction::multiply(decay) })
}

/// Refuses options that say the same thing twice; of `alternatives` one excludes the others.
fn refuse_twice(what: &str, options: &[&str], alternatives: &[&str]) -> Outcome<()> {
    let mut seen = vec![];
    for option in options {
        let name = option.split_once('=').map_or(*option, |(name, _)| name);
        let kind = if alternatives.contains(&name) { alternatives[0] } else { name };
        if seen.contains(&kind) {
            let one_of = format!("each option once, and one of {}", alternatives.join(", "));
            let wrong = usage(format!("reading {what}")).expected(one_of);
            return Err(wrong.found(format!("'{option}' beside '{}'", options.join(","))).into());
        }
        seen.push(kind);
    }
    Ok(())
}

/// A point whose coordinates no comma parts.
fn point(text: &str, typed: &str) -> Outcome<GeoPoint> {
    Ok(text.parse().map_err(|_| {
        let expected = "FIELD:LATITUDE/LONGITUDE,SCALE";
        usage("reading --decay").expected(expected).found(format!("'{typed}'"))
    })?)
}

/// A number, or a time in seconds: `12.5`, `90s`, `15m`, `12h`, `30d`, `4w`.
fn seconds_or_number(text: &str) -> Option<f64> {
    let units = [('s', 1.0), ('m', 60.0), ('h', 3_600.0), ('d', 86_400.0), ('w', 7.0 * 86_400.0)];
    let unit = units.into_iter().find(|(unit, _)| text.ends_with(*unit));
    let (number, unit) = match unit {
        Some((name, seconds)) => (text.strip_suffix(name)?, seconds),
        None => (text, 1.0),
    };
    number.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::Field;

    #[test]
    fn distances_are_numbers_or_times() {
        let cases =
            [("12.5", 12.5), ("90s", 90.0), ("2m", 120.0), ("1.5h", 5_400.0), ("4w", 2_419_200.0)];
        for (text, expected) in cases {
            assert_eq!(seconds_or_number(text), Some(expected), "{text}");
        }
        for text in ["", "d", "1dd", "1y", "inf", "NaN"] {
            assert_eq!(seconds_or_number(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_typed_is_what_a_program_writes() {
        let now = Timestamp::from_micros(0).unwrap();
        let value = FieldValue::new("sales").modifier(Modifier::Log1p).factor(0.5).missing(2.0);
        let typed = boost("sales:log1p,factor=0.5,missing=2").unwrap();
        assert_eq!(typed, ScoreFunction::multiply(value));
        assert_eq!(boost("sales,sum").unwrap(), ScoreFunction::sum(FieldValue::new("sales")));
        let recent = Decay::exp("since", now, 86_400.0).offset(3_600.0).decay(0.25).missing(0.5);
        let since = Field::new("since", FieldKind::Date);
        let place = Field::new("place", FieldKind::Point { array: None });
        let schema = Schema::builder().text("title").field(since).field(place).build().unwrap();
        let decay = |typed: &str| {
            let dates = Dates::new().now(now).zone("+02:00".parse().unwrap());
            super::decay(typed, &schema, &dates)
        };
        let typed = decay("since:now,1d,exp,offset=1h,decay=0.25,missing=0.5").unwrap();
        assert_eq!(typed, ScoreFunction::multiply(recent));
        let near: Timestamp = "2020-01-01T10:00:00Z".parse().unwrap();
        let near = ScoreFunction::sum(Decay::gauss("since", near, 60.0));
        assert_eq!(decay("since:2020-01-01T10:00:00Z,1m,sum").unwrap(), near);
        assert_eq!(decay("since:2020-01-01T12:00,1m,sum").unwrap(), near);
        let paris = GeoPoint::new(48.85, 2.35).unwrap();
        let near = Decay::linear("place", paris, 10_000.0).offset(500.0).decay(0.25);
        let typed = decay("place:48.85/2.35,10km,linear,offset=500m,decay=0.25").unwrap();
        assert_eq!(typed, ScoreFunction::multiply(near));
        for text in [
            "",
            ":log1p",
            "sales:cube",
            "sales:factor=x",
            "sales,",
            "sales:log1p,sqrt",
            "sales:factor=1,factor=2",
            "sales:ln,ln",
        ] {
            assert!(boost(text).is_err(), "{text}");
        }
        for text in [
            "since",
            "since:now",
            "since:now,x",
            "since:now,1d,bell",
            "since:now,1d,decay=x",
            "since:now,1d,gauss,exp",
            "since:now,1d,decay=0.1,decay=0.2",
            "since:now,1d,sum,sum",
            "since:now-1x,1d",
            "place:48.85,2.35,10km",
            "place:48.85/2.35,10",
            "place:48.85/2.35,10km,offset=1d",
            "place:now,1km",
        ] {
            assert!(decay(text).is_err(), "{text}");
        }
    }
}
