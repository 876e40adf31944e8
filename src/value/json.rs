//! Values as JSON, which has fewer kinds of numbers.
//!
//! Texts, whole numbers of 64 bits with a sign, numbers with a fraction, true, false and null are what JSON has; other kinds
//! are objects with one name: `{"u64": 1}`, `{"f64": "NaN"}`, `{"date": "2024-05-06T12:00:00Z"}`, `{"decimal": "12.50"}`,
//! `{"ip": "10.0.0.1"}`, `{"vector": [0.5, -1.0]}`, `{"point": "49.255,4.154"}`. So what is written is read back as the value that it was.

use super::{Value, vanishes};
use crate::error::Result;
use crate::json::{Json, Reader};

const KINDS: &str = "\"u64\", \"f64\", \"date\", \"decimal\", \"ip\", \"vector\" or \"point\"";

impl Value {
    pub(crate) fn write_json(&self, json: &mut Json) {
        let kind = |json: &mut Json, name: &str, text: &str| {
            json.object(|json| json.field(name).string(text));
        };
        match self {
            Value::Null => json.null(),
            Value::Text(text) => json.string(text),
            Value::I64(number) => json.number(number),
            Value::U64(number) if i64::try_from(*number).is_err() => json.number(number),
            Value::U64(number) => json.object(|json| json.field("u64").number(number)),
            Value::F64(number) if number.is_finite() => json.float(*number),
            Value::F64(number) => json.object(|json| json.field("f64").float(*number)),
            Value::Bool(is_true) => json.boolean(*is_true),
            Value::Date(date) => kind(json, "date", &date.to_string()),
            Value::Decimal(number) => kind(json, "decimal", &number.to_string()),
            Value::Ip(address) => kind(json, "ip", &address.to_string()),
            Value::Point(point) => kind(json, "point", &point.to_string()),
            Value::Vector(numbers) => json.object(|json| {
                json.field("vector").array(numbers, |json, number| json.float(*number));
            }),
        }
    }

    pub(crate) fn read_json(reader: &mut Reader<'_>) -> Result<Value> {
        match reader.next_byte() {
            Some(b'"') => reader.string().map(Value::Text),
            Some(b'n') => {
                Ok(reader.or_null(|reader| reader.boolean())?.map_or(Value::Null, Value::Bool))
            }
            Some(b't' | b'f') => reader.boolean().map(Value::Bool),
            Some(b'{') => read_kind(reader),
            _ => read_number(reader),
        }
    }
}

fn read_number(reader: &mut Reader<'_>) -> Result<Value> {
    let expected = "a text, a number, true, false, null or an object";
    reader.number_as(expected, |digits| {
        let is_whole = !digits.contains(['.', 'e', 'E']);
        let whole = || Some(Value::I64(digits.parse().ok()?));
        let positive = || Some(Value::U64(digits.parse().ok()?));
        let is_kept = |it: &f64| it.is_finite() && !vanishes(digits, *it);
        let float = || digits.parse().ok().filter(is_kept).map(Value::F64);
        match is_whole {
            true => whole().or_else(positive),
            false => float(),
        }
    })
}

/// An object with the kind of a value as its one name.
fn read_kind(reader: &mut Reader<'_>) -> Result<Value> {
    let mut value = None;
    reader.object(&[], |reader, name| {
        let read = match name {
            _ if value.is_some() => return Err(reader.error("one name", &format!("{name:?}, too"))),
            "u64" => Value::U64(reader.whole()?),
            "f64" => Value::F64(reader.double()?),
            "date" => Value::Date(reader.parsed("a date", |text| text.parse().ok())?),
            "decimal" => Value::Decimal(reader.parsed("a number", |text| text.parse().ok())?),
            "ip" => Value::Ip(reader.parsed("an address", |text| text.parse().ok())?),
            "vector" => Value::Vector(reader.array(|reader| reader.float())?),
            "point" => Value::Point(reader.parsed("a point", |text| text.parse().ok())?),
            _ => return Err(reader.error(KINDS, &format!("{name:?}"))),
        };
        value = Some(read);
        Ok(true)
    })?;
    value.ok_or_else(|| reader.error(KINDS, "an empty object"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::GeoPoint;
    use crate::value::{Decimal, Timestamp};

    fn read(text: &str) -> Result<Value> {
        let mut reader = Reader::new(text, "a value")?;
        let value = Value::read_json(&mut reader)?;
        reader.end().map(|()| value)
    }

    #[test]
    fn values_of_all_kinds_are_read_back_as_they_were() {
        for value in [
            Value::Null,
            Value::from("a \"text\"\n"),
            Value::I64(0),
            Value::I64(i64::MIN),
            Value::U64(7),
            Value::U64(u64::MAX),
            Value::F64(1.0),
            Value::F64(-0.0),
            Value::F64(1e300),
            Value::F64(f64::MIN_POSITIVE),
            Value::F64(f64::NEG_INFINITY),
            Value::Bool(true),
            Value::Vector(vec![0.1, -1.0, 1e-40, 0.0]),
            Value::Vector(vec![]),
            Value::Point(GeoPoint::new(-49.255, 4.154).unwrap()),
            Value::Bool(false),
            Value::Date("2024-05-06T12:00:00.000001Z".parse::<Timestamp>().unwrap()),
            Value::Decimal(Decimal::new(-1250, 2).unwrap()),
            Value::Decimal(Decimal::new(5, 0).unwrap()),
            Value::Decimal(Decimal::new(-5, 3).unwrap()),
            Value::Ip("10.0.0.1".parse().unwrap()),
            Value::Ip("2001:db8::1".parse().unwrap()),
        ] {
            let mut json = Json::default();
            value.write_json(&mut json);
            let again = read(&json.out).unwrap();
            assert_eq!(again, value, "{}", json.out);
            assert_eq!(
                std::mem::discriminant(&again),
                std::mem::discriminant(&value),
                "{}",
                json.out
            );
        }
    }

    #[test]
    fn what_is_no_value_is_told_with_its_place() {
        for (text, told) in [
            ("{}", "an empty object"),
            (r#"{"u64": -1}"#, "a whole number of at most 64 bits"),
            (r#"{"u64": 1, "f64": 1}"#, "one name"),
            (r#"{"number": 1}"#, "\"vector\" or \"point\""),
            (r#"{"point": "91,0"}"#, "a point"),
            (r#"{"date": "yesterday"}"#, "a date"),
            (r#"{"decimal": "1e5"}"#, "a number"),
            (r#"{"decimal": "-"}"#, "a number"),
            (r#"{"ip": "10.0.0"}"#, "an address"),
            ("99999999999999999999", "a text, a number"),
            ("1e999", "a text, a number"),
            ("[1]", "a text, a number"),
            ("nul", "true or false"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("line 1"), "{text}: {error}");
        }
    }
}
