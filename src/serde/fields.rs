//! Stored fields read into whatever can be deserialised.

use super::Wrong;
use crate::error::Result;
use crate::value::Value;
use crate::value::stored::{Fields, Values};
use serde_core::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde_core::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde_core::forward_to_deserialize_any;
use std::cell::Cell;

const READING: &str = "reading stored fields into a struct";

pub(super) fn read<T: DeserializeOwned>(fields: &Fields) -> Result<T> {
    T::deserialize(Within { fields, prefix: String::new() }).map_err(|wrong| wrong.0)
}

/// Fields whose names begin alike: of a struct in a field.
struct Within<'f> {
    fields: &'f Fields,
    /// Beginning of the names, with its point; nothing for all fields.
    prefix: String,
}

impl<'f> Within<'f> {
    /// Names behind the prefix, with their values.
    fn names(&self) -> impl Iterator<Item = (&'f str, &'f Values)> {
        let after = self.fields.range(self.prefix.clone()..);
        after.map_while(|(name, values)| Some((name.strip_prefix(&*self.prefix)?, values)))
    }

    /// Every field by its whole name.
    fn all(&self) -> Vec<(&'f str, Part<'f>)> {
        let part = |(name, values)| (name, Part::Values { name: self.whole(name), values });
        self.names().map(part).collect()
    }

    /// The fields of a struct: those of these names, and structs of what begins with one of them and a point.
    fn of_struct(&self, known: &[&str]) -> Vec<(&'f str, Part<'f>)> {
        let mut parts: Vec<(&str, Part<'_>)> = vec![];
        for (name, values) in self.names() {
            let head = name.split_once('.').map(|(head, _)| head);
            match head.filter(|head| !known.contains(&name) && known.contains(head)) {
                Some(head) if parts.iter().any(|(known, _)| *known == head) => {}
                Some(head) => {
                    let prefix = format!("{}{head}.", self.prefix);
                    parts.push((head, Part::Within(Within { fields: self.fields, prefix })));
                }
                None => parts.push((name, Part::Values { name: self.whole(name), values })),
            }
        }
        parts
    }

    fn whole(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl<'de> Deserializer<'de> for Within<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_map(FieldsAccess::of(self.all()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_map(FieldsAccess::of(self.of_struct(fields)))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// Values behind a name, or the names within it.
enum Part<'f> {
    Values { name: String, values: &'f Values },
    Within(Within<'f>),
}

/// Names with what they stand for, one after the other.
struct FieldsAccess<'f> {
    parts: std::vec::IntoIter<(&'f str, Part<'f>)>,
    next: Option<Part<'f>>,
}

impl<'f> FieldsAccess<'f> {
    fn of(parts: Vec<(&'f str, Part<'f>)>) -> Self {
        FieldsAccess { parts: parts.into_iter(), next: None }
    }
}

impl<'de> MapAccess<'de> for FieldsAccess<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some((name, part)) = self.parts.next() else { return Ok(None) };
        self.next = Some(part);
        let name: StrDeserializer<'_, Wrong> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.next.take() {
            Some(Part::Values { name, values }) => {
                seed.deserialize(OfField(values)).map_err(|wrong| wrong.in_field(&name))
            }
            Some(Part::Within(within)) => seed.deserialize(within),
            None => Err(Wrong::new(READING, "a name before each value", "none")),
        }
    }
}

/// Values of a field: one, or a list.
struct OfField<'f>(&'f Values);

impl<'f> OfField<'f> {
    fn one(&self) -> Result<OfValue<'f>, Wrong> {
        match self.0.as_slice() {
            [value] => Ok(OfValue(value)),
            values => Err(Wrong::new(READING, "one value", format!("{}", values.len()))),
        }
    }

    fn list(self) -> SeqDeserializer<impl Iterator<Item = OfValue<'f>>, Wrong> {
        SeqDeserializer::new(self.0.as_slice().iter().map(OfValue))
    }
}

/// Methods that want one value.
macro_rules! of_one {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            self.one()?.$method(visitor)
        }
    )*};
}

/// Methods that want a list.
macro_rules! of_list {
    ($($method:ident($($what:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $what,)* visitor: V) -> Result<V::Value, Wrong> {
            match self.0.as_slice() {
                [Value::Vector(numbers)] => visitor.visit_seq(OneVector::of(numbers)),
                _ => self.list().deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for OfField<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0.len() {
            1 => self.one()?.deserialize_any(visitor),
            _ => self.list().deserialize_any(visitor),
        }
    }

    of_one! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_identifier
    }

    of_list! {
        deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0.as_slice() {
            [] | [Value::Null] => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.one()?.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! { unit_struct map struct ignored_any }
}

/// The only vector of a field: a list of numbers, or a list of that one list, whichever is asked for.
struct OneVector<'f> {
    left: Cell<&'f [f32]>,
}

impl<'f> OneVector<'f> {
    fn of(numbers: &'f [f32]) -> Self {
        OneVector { left: Cell::new(numbers) }
    }
}

impl<'de> SeqAccess<'de> for OneVector<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Wrong> {
        match self.left.get().is_empty() {
            true => Ok(None),
            false => seed.deserialize(NextOfVector(&self.left)).map(Some),
        }
    }
}

/// The next number of a vector, or all that are left as a list.
struct NextOfVector<'v, 'f>(&'v Cell<&'f [f32]>);

impl<'de> Deserializer<'de> for NextOfVector<'_, '_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0.get().split_first() {
            Some((number, rest)) => {
                self.0.set(rest);
                visitor.visit_f32(*number)
            }
            None => visitor.visit_unit(),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let numbers = self.0.replace(&[]);
        visitor.visit_seq(SeqDeserializer::new(numbers.iter().copied()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        tuple_struct map struct enum identifier ignored_any
    }
}

/// One value.
struct OfValue<'f>(&'f Value);

impl<'de> IntoDeserializer<'de, Wrong> for OfValue<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for OfValue<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Text(text) => visitor.visit_str(text),
            Value::I64(number) => visitor.visit_i64(*number),
            Value::U64(number) => visitor.visit_u64(*number),
            Value::F64(number) => visitor.visit_f64(*number),
            Value::Bool(is_true) => visitor.visit_bool(*is_true),
            Value::Date(_) | Value::Decimal(_) | Value::Ip(_) => {
                visitor.visit_str(&self.0.to_string())
            }
            Value::Vector(numbers) => {
                visitor.visit_seq(SeqDeserializer::new(numbers.iter().copied()))
            }
            Value::Point(point) => {
                let parts = [("lat", point.lat()), ("lon", point.lon())];
                visitor.visit_map(MapDeserializer::new(parts.into_iter()))
            }
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0.as_f64() {
            Some(number) => visitor.visit_f64(number),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let variant: StrDeserializer<'_, Wrong> = match self.0.as_str() {
            Some(name) => name.into_deserializer(),
            None => {
                return Err(Wrong::new(READING, "the name of a variant", format!("'{}'", self.0)));
            }
        };
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}
