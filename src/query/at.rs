//! Dates of a query, read in a time zone at a moment.

use std::ops::Bound;

use super::bind::{check_size, located};
use super::{Boost, Place, Query};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{FieldKind, Schema};
use crate::value::{Dates, Timestamp, Value};

/// Default fields, where a query has its own.
type Scope<'q> = Option<&'q [(String, Boost)]>;

impl Query {
    /// Resolves the dates of the query to moments, by time zone and current time.
    ///
    /// Dates without an offset are in that zone; `now-7d` and the like count from that time. The result means the same whenever and
    /// wherever it is asked, and printed it shows the moments.
    ///
    /// Only the fields of dates of `schema` are read so; a list of several fields, if all of them are fields of dates.
    ///
    /// ```
    /// use treepie::value::Dates;
    /// use treepie::{Field, FieldKind, Schema, Timestamp};
    /// use treepie::query::{ParseOptions, parse};
    ///
    /// let schema = Schema::builder().text("title").field(Field::new("since", FieldKind::Date)).build()?;
    /// let now: Timestamp = "2024-05-01T12:00Z".parse()?;
    /// let query = parse("paris AND since:>now-1M", &ParseOptions::default())?;
    /// let query = query.at(&schema, &Dates::new().now(now))?;
    /// assert_eq!(query.to_string(), r#"paris AND since:{"2024-04-01T12:00:00.000000Z" TO *]"#);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for what is no date, a time or a day that clocks are put forward over, or `now` if nothing is said of it;
    /// [`ErrorKind::LimitExceeded`] for a tree that is too large or too deep to be asked.
    pub fn at(&self, schema: &Schema, dates: &Dates) -> Result<Query> {
        check_size(self)?;
        let has_dates = schema.default_fields().any(|field| field.kind == FieldKind::Date);
        let fields: Vec<_> =
            schema.default_fields().map(|it| (it.name.clone(), Boost::ONE)).collect();
        self.at_in(schema, dates, has_dates.then_some(&fields[..]))
    }

    /// Recursive, as a tree that can be asked is not deep.
    fn at_in(&self, schema: &Schema, dates: &Dates, scope: Scope<'_>) -> Result<Query> {
        if self.is_leaf() {
            return self.leaf_at(schema, dates, scope);
        }
        let scope = match self {
            Query::Fields { fields, .. } => Some(&fields[..]),
            _ => scope,
        };
        let children = self.children().map(|child| child.at_in(schema, dates, scope));
        Ok(self.with_children(children.collect::<Result<Vec<_>>>()?))
    }

    fn leaf_at(&self, schema: &Schema, dates: &Dates, scope: Scope<'_>) -> Result<Query> {
        let is_date = |name: &str| schema.field(name).is_some_and(|it| it.kind == FieldKind::Date);
        let zone_of = |name: &str| schema.field(name).and_then(|field| field.zone.as_deref());
        let (name, are_dates) = match (self.field_of_terms(), scope) {
            (Some(Some(name)), _) => (Some(&**name), is_date(name)),
            (Some(None), Some(fields)) => {
                let n_dates = fields.iter().filter(|(name, _)| is_date(name)).count();
                let is_one = fields.windows(2).all(|two| zone_of(&two[0].0) == zone_of(&two[1].0));
                (None, n_dates > 0 && n_dates == fields.len() && (is_one || dates.has_zone()))
            }
            _ => (None, false),
        };
        if !are_dates {
            if let (Some(None), Some(fields)) = (self.field_of_terms(), scope) {
                let dates_of = fields.iter().filter(|(name, _)| is_date(name));
                dates_of
                    .map(|(name, _)| zone_of(name))
                    .try_for_each(|it| self.same_in(it, dates))?;
            }
            return Ok(self.clone());
        }
        // The first of several fields counts; those of a list have one zone, or the query says another.
        let first = scope.and_then(|fields| fields.first()).map(|(first, _)| &**first);
        let zone = name.or(first).and_then(zone_of);
        let span = |text: &str, place: &Place| {
            dates.micros(text, zone).map_err(|wrong| {
                let what = match name {
                    Some(name) => format!("looking in the date field '{name}'"),
                    None => "looking in fields of dates".to_owned(),
                };
                let error = Error::new(ErrorKind::Query, what);
                located(&place.text, error.expected(wrong.expected).found(wrong.found))
            })
        };
        let exact = |micros: i64| {
            let date = Timestamp::from_micros(micros).map_or(Value::Null, Value::Date);
            date.to_exact_text().into_owned()
        };
        let between = |(first, last): (i64, i64)| {
            Query::range((Bound::Included(exact(first)), Bound::Included(exact(last))))
        };
        let value = |text: &str, place: &Place| -> Result<Query> {
            Ok(match span(text, place)?.into_inner() {
                (first, last) if first == last => Query::phrase(exact(first)),
                span => between(span),
            })
        };
        let named = |query: Query| match name {
            Some(name) => query.in_field(name),
            None => query,
        };
        Ok(match self {
            Query::Word { text, place, .. } => named(value(text, place)?),
            Query::Phrase { text, prefix: false, place, .. } => named(value(text, place)?),
            Query::InSet { values, place, .. } => {
                let (mut moments, mut spans) = (vec![], vec![]);
                for text in values {
                    match span(text, place)?.into_inner() {
                        (first, last) if first == last => moments.push(first),
                        span => spans.push(span),
                    }
                }
                // Days that follow each other are one range.
                spans.sort_unstable();
                spans.dedup_by(|next, before| {
                    let meet = next.0 <= before.1.saturating_add(1);
                    before.1 = if meet { before.1.max(next.1) } else { before.1 };
                    meet
                });
                let mut any: Vec<_> = spans.into_iter().map(between).collect();
                match moments[..] {
                    [] => {}
                    [moment] => any.push(Query::phrase(exact(moment))),
                    // However many there are, they stay one leaf.
                    _ => any.push(Query::in_set(moments.into_iter().map(exact))),
                }
                Query::any_of(any.into_iter().map(named))
            }
            Query::Range { lower, upper, place, .. } => {
                let lower = match lower {
                    Bound::Included(text) => Bound::Included(exact(*span(text, place)?.start())),
                    Bound::Excluded(text) => Bound::Excluded(exact(*span(text, place)?.end())),
                    Bound::Unbounded => Bound::Unbounded,
                };
                let upper = match upper {
                    Bound::Included(text) => Bound::Included(exact(*span(text, place)?.end())),
                    Bound::Excluded(text) => Bound::Excluded(exact(*span(text, place)?.start())),
                    Bound::Unbounded => Bound::Unbounded,
                };
                named(Query::range((lower, upper)))
            }
            // A pattern, which no date is.
            _ => self.clone(),
        })
    }
}

impl Query {
    /// Refuses a leaf whose texts mean other moments by `dates` than by themselves, in a field of dates of this zone: it stands
    /// in a list with other fields, which need the texts as they are.
    fn same_in(&self, zone: Option<&str>, dates: &Dates) -> Result<()> {
        let bound = |bound: &Bound<String>| match bound {
            Bound::Included(text) | Bound::Excluded(text) => Some(text.clone()),
            Bound::Unbounded => None,
        };
        let (texts, place) = match self {
            Query::Word { text, place, .. } | Query::Phrase { text, place, .. } => {
                (vec![text.clone()], place)
            }
            Query::InSet { values, place, .. } => (values.clone(), place),
            Query::Range { lower, upper, place, .. } => {
                (bound(lower).into_iter().chain(bound(upper)).collect(), place)
            }
            _ => return Ok(()),
        };
        let by_itself = Dates::new();
        let differs = |text: &&String| {
            let asked = dates.micros(text, zone).ok();
            asked.is_some() && asked != by_itself.micros(text, zone).ok()
        };
        match texts.iter().find(differs) {
            None => Ok(()),
            Some(text) => {
                let error = Error::new(ErrorKind::Query, "looking in fields of dates and others")
                    .expected("a date in UTC or with an offset, or a list of fields of dates alone")
                    .found(format!("'{text}'"));
                Err(located(&place.text, error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyzers;
    use crate::query::{ParseOptions, parse, rewrite};
    use crate::schema::Field;

    fn schema() -> Schema {
        let date = |name: &str| Field::new(name, FieldKind::Date);
        Schema::builder().text("title").field(date("since")).field(date("until")).build().unwrap()
    }

    fn at(text: &str, dates: &Dates) -> Result<String> {
        let query = parse(text, &ParseOptions::default())?.at(&schema(), dates)?;
        rewrite(&query, &schema(), &Analyzers::default())?;
        Ok(query.to_string())
    }

    #[test]
    fn dates_are_read_where_fields_of_dates_are_the_default() {
        let now: Timestamp = "2024-05-01T12:00Z".parse().unwrap();
        let dates = Dates::new().now(now);
        let since = Field::new("since", FieldKind::Date);
        let schema = Schema::builder().field(since).default_fields(["since"]).build().unwrap();
        let query = parse("now", &ParseOptions::default()).unwrap();
        let query = query.at(&schema, &dates).unwrap();
        assert_eq!(query.to_string(), r#""2024-05-01T12:00:00.000000Z""#);
        rewrite(&query, &schema, &Analyzers::default()).unwrap();
    }

    #[test]
    fn dates_become_moments_and_everything_else_stays() {
        let now: Timestamp = "2024-05-01T12:00Z".parse().unwrap();
        let dates = Dates::new().now(now).zone("+02:00".parse().unwrap());
        let day = r#"["2024-04-30T22:00:00.000000Z" TO "2024-05-01T21:59:59.999999Z"]"#;
        for (text, expected) in [
            ("since:now", r#"since:"2024-05-01T12:00:00.000000Z""#),
            ("since:now/d", &format!("since:{day}")),
            ("since:2024-05-01", &format!("since:{day}")),
            ("since:\"2024-05-01\"", &format!("since:{day}")),
            ("since:2024-05-01T12:00:00.000000Z", r#"since:"2024-05-01T12:00:00.000000Z""#),
            ("since:>=now-1d", r#"since:["2024-04-30T12:00:00.000000Z" TO *]"#),
            (
                "since:{2024-05-01 TO now}",
                r#"since:{"2024-05-01T21:59:59.999999Z" TO "2024-05-01T12:00:00.000000Z"}"#,
            ),
            ("since:[* TO 2024-05-01}", r#"since:[* TO "2024-04-30T22:00:00.000000Z"}"#),
            (
                "now since:(now^2 -2024-05-01)",
                &format!("now (since:\"2024-05-01T12:00:00.000000Z\"^2 -since:{day})"),
            ),
            ("{since until}:now/d", &format!("{{since until}}:{day}")),
            ("{title since}:\"2024-05-01T00:00Z\"", "{title since}:\"2024-05-01T00:00Z\""),
            ("title:[a TO now] now*", "title:[a TO now] now*"),
            ("since:* -until:*", "since:* -until:*"),
        ] {
            assert_eq!(at(text, &dates).unwrap(), expected, "{text}");
            // Once that is done it stays.
            assert_eq!(at(expected, &Dates::new()).unwrap(), expected, "{text}");
        }
        let set = at("since:IN [now 2024-05-01]", &dates).unwrap();
        assert_eq!(set, format!("since:{day} OR since:\"2024-05-01T12:00:00.000000Z\""));
        // Moments stay one list, and spans that meet become one range.
        let noon = |day: u32| format!("\"2024-05-{day:02}T12:00:00.000000Z\"");
        let moments = format!("since:IN [{} {} {}]", noon(1), noon(3), noon(7));
        assert_eq!(at(&moments, &dates).unwrap(), moments);
        let mixed =
            format!("since:IN [{} 2024-05-03 2024-05-01 2024-05-02 2023 {}]", noon(9), noon(7));
        let year = r#"["2022-12-31T22:00:00.000000Z" TO "2023-12-31T21:59:59.999999Z"]"#;
        let three = r#"["2024-04-30T22:00:00.000000Z" TO "2024-05-03T21:59:59.999999Z"]"#;
        let expected =
            format!("since:{year} OR since:{three} OR since:IN [{} {}]", noon(7), noon(9));
        assert_eq!(at(&mixed, &dates).unwrap(), expected);
        let many: Vec<_> = (0..20_000).map(|n| Timestamp::from_micros(n).unwrap()).collect();
        let many = Query::in_set(many).in_field("since");
        assert_eq!(many.at(&schema(), &dates).unwrap(), many);
    }

    #[test]
    fn what_means_no_moment_is_refused_where_it_stands() {
        let now = Dates::new().now(Timestamp::default());
        let zone = Dates::new().zone("+02:00".parse().unwrap());
        for (text, dates, words, span) in [
            ("a since:now-7d", &Dates::new(), "when now is", Some(8..14)),
            ("since:now-7x", &now, "found 'now-7x'", Some(6..12)),
            ("since:2010-02-30", &now, "2010-02-30", Some(6..16)),
            ("since:[now TO x]", &now, "found 'x'", None),
            ("{since until}:x", &now, "fields of dates", Some(14..15)),
            ("{title since}:now", &now, "fields of dates alone, found 'now'", Some(14..17)),
            ("{title since}:[2024 TO 2025]", &zone, "found '2024'", None),
            ("since:now*", &now, "a pattern", None),
        ] {
            let error = at(text, dates).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query, "{error}");
            assert!(error.to_string().contains(words), "{text}: {error}");
            assert!(span.is_none() || error.span() == span, "{text}: {error}");
        }
        let mut deep = Query::word("a");
        for _ in 0..100_000 {
            deep = Query::Not(Box::new(deep));
        }
        assert_eq!(deep.at(&schema(), &now).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
