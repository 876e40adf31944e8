//! Values of typed fields as terms: what a dictionary holds, and a stored row.

use super::Value;
use super::address;
use super::date;
use super::typed::{self, NotTaken, TERM_LEN};
use super::zone::Zone;
use crate::schema::{Field, FieldKind};
use std::net::IpAddr;
use std::ops::Deref;

/// The term of a typed value: the eight bytes of a code, or the sixteen of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypedTerm {
    bytes: [u8; address::ADDRESS_LEN],
    len: usize,
}

impl TypedTerm {
    fn of_code(code: u64) -> Self {
        let mut bytes = [0; address::ADDRESS_LEN];
        bytes[..TERM_LEN].copy_from_slice(&typed::term_of_code(code));
        TypedTerm { bytes, len: TERM_LEN }
    }

    fn of_address(address: IpAddr) -> Self {
        let bytes = address::term_of_address(address::number_of(address));
        TypedTerm { bytes, len: address::ADDRESS_LEN }
    }
}

impl Deref for TypedTerm {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The term of a value of a document, in a field of a typed kind.
pub(crate) fn term(field: &Field, value: &Value) -> Result<TypedTerm, NotTaken> {
    match (field.kind, value) {
        (FieldKind::Ip, _) => address(value).map(TypedTerm::of_address),
        (FieldKind::Date, Value::Text(text)) if field.zone.is_some() => {
            let zone = Zone::of_field(field.zone.as_deref())?;
            let micros = date::micros_in(text, &zone)?;
            Ok(TypedTerm::of_code(typed::of_i64(*micros.start())))
        }
        (kind, _) => typed::code(kind, value).map(TypedTerm::of_code),
    }
}

/// The term of a value that is looked for: a text that leaves open which of several is meant is none.
pub(crate) fn exact_term(field: &Field, value: &Value) -> Result<TypedTerm, NotTaken> {
    match field.kind {
        FieldKind::Ip => address(value).map(TypedTerm::of_address),
        _ => typed::exact_code(field, value).map(TypedTerm::of_code),
    }
}

/// The term of a value of a field of addresses.
pub(crate) fn address_term(value: &Value) -> Result<TypedTerm, NotTaken> {
    address(value).map(TypedTerm::of_address)
}

fn address(value: &Value) -> Result<IpAddr, NotTaken> {
    match value {
        Value::Ip(address) => Ok(*address),
        Value::Text(text) => address::parse(text),
        other => Err(NotTaken {
            expected: typed::takes(FieldKind::Ip).into(),
            found: typed::shown(other),
        }),
    }
}

/// The value of a term of a typed kind; `None` if no document can have made it.
pub(crate) fn value_of_term(kind: FieldKind, term: &[u8]) -> Option<Value> {
    match kind {
        FieldKind::Ip => address::address_of_term(term).map(Value::Ip),
        _ => {
            let code = typed::code_of_term(term)?;
            let value = typed::value(kind, code);
            let is_made = typed::code(kind, &value) == Ok(code) && typed::is_code(kind, code);
            is_made.then_some(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_no_value_has_are_told_apart() {
        let sign = 1 << 63;
        let [one, most] = [1, u64::MAX].map(typed::term_of_code);
        let is_term = |kind, term: &[u8]| value_of_term(kind, term).is_some();
        for kind in typed::tests::KINDS.into_iter().chain([FieldKind::Ip]) {
            assert!(!is_term(kind, &one[1..]) && !is_term(kind, &[]), "{kind:?}");
        }
        assert!(is_term(FieldKind::Bool, &one) && !is_term(FieldKind::Bool, &most));
        assert!(is_term(FieldKind::U64, &most) && !is_term(FieldKind::F64, &most));
        assert!(
            !is_term(FieldKind::Date, &most) && is_term(FieldKind::Decimal { scale: 2 }, &most)
        );
        assert!(!is_term(FieldKind::F64, &typed::term_of_code(!sign)), "a zero with a sign");
        assert!(!is_term(FieldKind::Ip, &one) && is_term(FieldKind::Ip, &[0; 16]));
    }

    #[test]
    fn an_address_is_taken_as_it_is_or_as_a_text() {
        let given: [Value; 3] =
            ["::ffff:10.0.0.1".into(), "10.0.0.1".into(), IpAddr::from([10, 0, 0, 1]).into()];
        for value in given {
            let ip = Field::new("ip", FieldKind::Ip);
            let term = term(&ip, &value).unwrap();
            assert_eq!(value_of_term(FieldKind::Ip, &term).unwrap().to_string(), "10.0.0.1");
            assert_eq!(exact_term(&ip, &value), Ok(term));
        }
        for (value, found) in
            [(Value::from(7), "a whole number (7)"), ("10.0.0.0/8".into(), "'10.0.0.0/8'")]
        {
            assert_eq!(term(&Field::new("ip", FieldKind::Ip), &value).unwrap_err().found, found);
        }
    }
}
