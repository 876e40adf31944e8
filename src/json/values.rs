//! Values of JSON by one rule each, to be written and read. So objects are tables of names.

use super::{Json, Reader};
use crate::error::Result;
use std::collections::BTreeMap;

/// Value that JSON has at a name.
pub(crate) trait JsonValue: Sized {
    fn write(&self, json: &mut Json);

    fn read(reader: &mut Reader<'_>) -> Result<Self>;

    /// Reads it to where it belongs: objects inside each other are not moved about on the stack.
    fn read_to(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        *self = Self::read(reader)?;
        Ok(())
    }
}

impl Json {
    pub(crate) fn objects<T>(&mut self, items: &[T], fields: impl Fn(&mut Json, &T)) {
        self.array(items, |json, item| json.object(|json| fields(json, item)));
    }

    pub(crate) fn put(&mut self, name: &str, value: &impl JsonValue) {
        value.write(self.field(name));
    }

    pub(crate) fn put_some(&mut self, name: &str, value: Option<&impl JsonValue>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Writes a name with its value, unless that is nothing: 0, false or empty.
    pub(crate) fn put_full<T: JsonValue + Default + PartialEq>(&mut self, name: &str, value: &T) {
        self.put_some(name, (*value != T::default()).then_some(value));
    }
}

/// Writes names with the values that a structure has of them.
macro_rules! put_all {
    ($json:ident, $it:expr; $($name:ident),+) => {{ $($json.put(stringify!($name), &$it.$name);)+ }};
}

/// A value that need not be there. It is no part of the frames of objects inside each other.
pub(crate) fn read_some<T: JsonValue>(slot: &mut Option<T>, reader: &mut Reader<'_>) -> Result<()> {
    *slot = Some(T::read(reader)?);
    Ok(())
}

macro_rules! json_scalars {
    ($($type:ty: $write:ident, $read:ident;)+) => {
        $(impl JsonValue for $type {
            fn write(&self, json: &mut Json) {
                json.$write(self);
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                reader.$read()
            }
        })+
    };
}

json_scalars! {
    u32: number, whole;
    u64: number, whole;
    f32: number, float;
    f64: number, finite_double;
    bool: number, boolean;
    String: string, string;
}

/// Null where there is none.
impl<T: JsonValue> JsonValue for Option<T> {
    fn write(&self, json: &mut Json) {
        match self {
            Some(value) => value.write(json),
            None => json.null(),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.or_null(T::read)
    }
}

impl<T: JsonValue + Default> JsonValue for Vec<T> {
    fn write(&self, json: &mut Json) {
        json.array(self, |json, value| value.write(json));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut items = vec![];
        reader.array(|reader| {
            let mut item = T::default();
            item.read_to(reader)?;
            items.push(item);
            Ok(())
        })?;
        Ok(items)
    }
}

/// Writes kinds by their names, and reads them.
macro_rules! json_names {
    ($($type:ty;)+) => {
        $(impl JsonValue for $type {
            fn write(&self, json: &mut Json) {
                json.string(self.name());
            }

            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                reader.one_of(&<$type>::ALL.map(|it| (it.name(), it)))
            }
        })+
    };
}

impl<T: JsonValue> JsonValue for BTreeMap<String, T> {
    fn write(&self, json: &mut Json) {
        json.object(|json| self.iter().for_each(|(name, value)| json.put(name, value)));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut values = BTreeMap::new();
        reader.object(&[], |reader, name| {
            values.insert(name.to_owned(), T::read(reader)?);
            Ok(true)
        })?;
        Ok(values)
    }
}

pub(crate) use {json_names, put_all};
