//! Queries in a field of IP addresses: one address, a block, or a range.

use std::ops::Bound;

use super::Place;
use super::bind::{Binder, Normal, located, nothing, shortened};
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::TermPattern;
use crate::ids::FieldId;
use crate::schema::Field;
use crate::value::{self, AddressSpan};

impl Binder<'_> {
    /// Documents with an address, or with one of a block.
    pub(super) fn address(&mut self, id: FieldId, text: &str, place: &Place) -> Result<Normal> {
        let field = self.schema.get(id);
        let AddressSpan { first, last } =
            span(field, text).map_err(|error| located(&place.text, error))?;
        match first == last {
            true => Ok(Normal::Term { field: id, term: value::term_of_address(first)[..].into() }),
            false => self.between_addresses(id, Bound::Included(first), Bound::Included(last)),
        }
    }

    /// Documents with an address in a range. An end that is a block means all of it, as a date does that leaves time open.
    pub(super) fn address_range(
        &mut self,
        id: FieldId,
        lower: &Bound<String>,
        upper: &Bound<String>,
    ) -> Result<Normal> {
        let field = self.schema.get(id);
        let from = match lower {
            Bound::Included(text) => Bound::Included(span(field, text)?.first),
            Bound::Excluded(text) => Bound::Excluded(span(field, text)?.last),
            Bound::Unbounded => Bound::Unbounded,
        };
        let to = match upper {
            Bound::Included(text) => Bound::Included(span(field, text)?.last),
            Bound::Excluded(text) => Bound::Excluded(span(field, text)?.first),
            Bound::Unbounded => Bound::Unbounded,
        };
        let first = match from {
            Bound::Included(address) => Some(address),
            Bound::Excluded(address) => address.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let last = match to {
            Bound::Included(address) => Some(address),
            Bound::Excluded(address) => address.checked_sub(1),
            Bound::Unbounded => Some(u128::MAX),
        };
        if first.zip(last).is_none_or(|(first, last)| first > last) {
            let [lower, upper] = [lower, upper].map(|bound| match bound {
                Bound::Included(text) | Bound::Excluded(text) => shortened(text),
                Bound::Unbounded => "*".into(),
            });
            let reason = format!("no value of '{}' is between {lower} and {upper}", field.name);
            self.note(format!("{reason}, so it matches nothing"));
            return Ok(nothing(reason));
        }
        self.between_addresses(id, from, to)
    }

    fn between_addresses(
        &mut self,
        id: FieldId,
        from: Bound<u128>,
        to: Bound<u128>,
    ) -> Result<Normal> {
        let from = if from == Bound::Included(0) { Bound::Unbounded } else { from };
        let to = if to == Bound::Included(u128::MAX) { Bound::Unbounded } else { to };
        let term = |address| value::term_of_address(address).to_vec();
        match (from.map(term), to.map(term)) {
            (Bound::Unbounded, Bound::Unbounded) => Ok(Normal::Exists(id)),
            (from, to) => self.expanded(id, TermPattern::Range(from, to)),
        }
    }
}

/// The addresses that a text means in a field.
fn span(field: &Field, text: &str) -> Result<AddressSpan> {
    value::addresses(text).map_err(|wrong| {
        let what = format!("looking in the {} field '{}'", field.kind.name(), field.name);
        Error::new(ErrorKind::Query, what).expected(wrong.expected).found(wrong.found)
    })
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analyzers;
    use crate::error::{ErrorKind, Result};
    use crate::query::{ParseOptions, parse, rewrite};
    use crate::schema::{Field, FieldKind, Schema};

    fn rewritten(text: &str) -> Result<(String, Vec<String>)> {
        let schema = Schema::builder().field(Field::new("ip", FieldKind::Ip)).build()?;
        let query = parse(text, &ParseOptions::default())?;
        let rewritten = rewrite(&query, &schema, &Analyzers::default())?;
        Ok((rewritten.normal.display(&schema).to_string(), rewritten.notes))
    }

    #[test]
    fn texts_become_addresses_and_ranges_of_them() {
        for (text, expected) in [
            ("ip:10.0.0.1", "ip:10.0.0.1"),
            ("ip:\"::ffff:10.0.0.1\"", "ip:10.0.0.1"),
            ("ip:2001:db8::1", "ip:\"2001:db8::1\""),
            ("ip:10.0.0.0/8", "ip:[10.0.0.0 TO 10.255.255.255]"),
            ("ip:10.0.0.7/32", "ip:10.0.0.7"),
            ("ip:::/0", "ip:*"),
            ("ip:[10.0.0.0/16 TO 10.2.0.0/16]", "ip:[10.0.0.0 TO 10.2.255.255]"),
            ("ip:{10.0.0.0/16 TO 10.2.0.0/16}", "ip:{10.0.255.255 TO 10.2.0.0}"),
            ("ip:>=10.0.0.0", "ip:[10.0.0.0 TO *]"),
            ("ip:[:: TO ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]", "ip:*"),
            ("ip:[* TO *]", "ip:*"),
            ("ip:IN [10.0.0.2 ::ffff:10.0.0.1 10.0.0.2]", "ip:IN [10.0.0.1 10.0.0.2]"),
            ("ip:IN [10.0.0.1 10.1.0.0/16]", "ip:[10.1.0.0 TO 10.1.255.255] OR ip:10.0.0.1"),
        ] {
            let (found, _) = rewritten(text).unwrap();
            assert_eq!(found, expected, "{text}");
            assert_eq!(rewritten(&found).unwrap().0, found, "what is printed means the same");
        }
        for text in ["ip:[10.0.0.2 TO 10.0.0.1]", "ip:{10.0.0.1 TO 10.0.0.2}", "ip:<\\:\\:"] {
            let (found, notes) = rewritten(text).unwrap();
            assert_eq!(found, "NOT *", "{text}");
            assert!(notes[0].starts_with("no value of 'ip' is between"), "{notes:?}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, words) in [
            ("ip:10.0.0", "the ip field 'ip': expected an address"),
            ("ip:10.0.0.1/8", "as 10.0.0.0/8, found '10.0.0.1/8'"),
            ("ip:[10.0.0.0 TO x]", "found 'x'"),
            ("ip:10.*", "a pattern of characters"),
            ("ip:10.0.0.1~1", "a pattern of characters"),
        ] {
            let error = rewritten(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        assert!(rewritten("ip:10.*").unwrap_err().to_string().contains("10.0.0.0/8"));
    }
}
