//! Documents made of whatever can be serialised.

use super::Wrong;
use crate::document::Document;
use crate::error::Result;
use crate::value::{self, Value};
use serde_core::ser::{
    Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    SerializeTupleStruct, Serializer,
};

const MAKING: &str = "making a document of a struct";

pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Document> {
    let mut document = Document::new();
    let place = Place { document: &mut document, name: String::new(), lists: 0 };
    value.serialize(place).map_err(|wrong| wrong.0)?;
    Ok(document)
}

/// A field that values go into: none for the document as a whole.
struct Place<'d> {
    document: &'d mut Document,
    name: String,
    /// Lists that what goes into it is in.
    lists: u8,
}

impl Place<'_> {
    fn push(self, value: impl Into<Value>) -> Result<(), Wrong> {
        if self.name.is_empty() {
            return Err(Wrong::new(MAKING, "a struct or a map", "a value without a name"));
        }
        self.document.push(self.name, value);
        Ok(())
    }

    fn refused(&self, found: &str) -> Wrong {
        let wrong = Wrong::new(MAKING, "values, lists of values and structs of these", found);
        if self.name.is_empty() { wrong } else { wrong.in_field(&self.name) }
    }
}

impl<'d> Serializer for Place<'d> {
    type Ok = ();
    type Error = Wrong;
    type SerializeSeq = Values<'d>;
    type SerializeTuple = Values<'d>;
    type SerializeTupleStruct = Values<'d>;
    type SerializeTupleVariant = Impossible<(), Wrong>;
    type SerializeMap = Names<'d>;
    type SerializeStruct = Names<'d>;
    type SerializeStructVariant = Impossible<(), Wrong>;

    fn serialize_bool(self, value: bool) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_i8(self, value: i8) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Wrong> {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => self.push(value),
            (_, Ok(value)) => self.push(value),
            _ => Err(self.refused("a whole number of more than 64 bits")),
        }
    }

    fn serialize_u8(self, value: u8) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Wrong> {
        match u64::try_from(value) {
            Ok(value) => self.push(value),
            Err(_) => Err(self.refused("a whole number of more than 64 bits")),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_char(self, value: char) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_str(self, value: &str) -> Result<(), Wrong> {
        self.push(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Wrong> {
        Err(self.refused("bytes"))
    }

    fn serialize_none(self) -> Result<(), Wrong> {
        self.push(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Wrong> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Wrong> {
        self.push(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Wrong> {
        self.push(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Wrong> {
        self.push(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Wrong> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<(), Wrong> {
        Err(self.refused(&format!("the variant {variant} with data")))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Values<'d>, Wrong> {
        match (self.lists, self.name.is_empty()) {
            (_, true) => Err(Wrong::new(MAKING, "a struct or a map", "a list")),
            (0, _) => Ok(Values { place: self, of_vector: None }),
            (1, _) => Ok(Values { place: self, of_vector: Some(Document::new()) }),
            _ => Err(self.refused("a list of lists of lists")),
        }
    }

    fn serialize_tuple(self, len: usize) -> Result<Values<'d>, Wrong> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Values<'d>, Wrong> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Wrong> {
        Err(self.refused(&format!("the variant {variant} with data")))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Names<'d>, Wrong> {
        match self.lists {
            // One could not tell any more which values were together.
            1.. => Err(self.refused("a list of structs")),
            0 => Ok(Names { place: self, next: None }),
        }
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Names<'d>, Wrong> {
        self.serialize_map(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Wrong> {
        Err(self.refused(&format!("the variant {variant} with data")))
    }
}

/// Values of one field.
struct Values<'d> {
    place: Place<'d>,
    /// Numbers of a list in a list, which is a vector.
    of_vector: Option<Document>,
}

impl Values<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        let Place { document, name, lists } = &mut self.place;
        let document = self.of_vector.as_mut().unwrap_or(document);
        value.serialize(Place { document, name: name.clone(), lists: *lists + 1 })
    }

    fn finish(self) -> Result<(), Wrong> {
        let Some(numbers) = self.of_vector else { return Ok(()) };
        match value::gathered(numbers.iter().map(|(_, value)| value)) {
            Some(vector) => self.place.push(vector),
            None => Err(self.place.refused("a list of lists that are not of numbers")),
        }
    }
}

impl SerializeSeq for Values<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        self.add(value)
    }

    fn end(self) -> Result<(), Wrong> {
        self.finish()
    }
}

impl SerializeTuple for Values<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        self.add(value)
    }

    fn end(self) -> Result<(), Wrong> {
        self.finish()
    }
}

impl SerializeTupleStruct for Values<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        self.add(value)
    }

    fn end(self) -> Result<(), Wrong> {
        self.finish()
    }
}

/// Fields of a struct or a map.
struct Names<'d> {
    place: Place<'d>,
    next: Option<String>,
}

impl Names<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Wrong> {
        let Place { document, name: within, .. } = &mut self.place;
        let name = match within.is_empty() {
            true => name.to_owned(),
            false => format!("{within}.{name}"),
        };
        value.serialize(Place { document, name, lists: 0 })
    }
}

impl SerializeStruct for Names<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Wrong> {
        self.add(name, value)
    }

    fn end(self) -> Result<(), Wrong> {
        Ok(())
    }
}

impl SerializeMap for Names<'_> {
    type Ok = ();
    type Error = Wrong;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Wrong> {
        // The name is the one value of a document that is made for it.
        let mut names = Document::new();
        key.serialize(Place { document: &mut names, name: "name".into(), lists: 2 })?;
        let name = names.values("name").next().filter(|name| !name.is_null());
        let name = name.map(|name| name.to_text().into_owned());
        self.next = Some(name.ok_or_else(|| self.place.refused("a map with a name that is null"))?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Wrong> {
        let name = self.next.take().unwrap_or_default();
        self.add(&name, value)
    }

    fn end(self) -> Result<(), Wrong> {
        Ok(())
    }
}
