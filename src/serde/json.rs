//! Plans and requests with serde. Their JSON is a contract: whatever format serde has gets the names that their JSON
//! has.

use crate::error::Result as Done;
use crate::explain::ExplainTree;
use crate::json::{Json, Reader};
use crate::request::SearchRequest;
use crate::serde::values::NUMBER_OF_DIGITS;
use serde_core::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{self, Serialize, SerializeMap, Serializer};
use std::fmt;

/// The object that [`ExplainTree::to_json`] writes.
impl Serialize for ExplainTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tree = Tree::read(&self.to_json()).map_err(ser::Error::custom)?;
        tree.serialize(serializer)
    }
}

/// From a format that says what its values are, as JSON.
impl<'de> Deserialize<'de> for ExplainTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Tree::deserialize(deserializer)?.to_text();
        ExplainTree::from_json(&text).map_err(de::Error::custom)
    }
}

/// The object that [`SearchRequest::to_json`] writes. Requests with a closure cannot be written.
impl Serialize for SearchRequest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tree = self.to_json().and_then(|text| Tree::read(&text)).map_err(ser::Error::custom)?;
        tree.serialize(serializer)
    }
}

/// From a format that says what its values are, as JSON.
impl<'de> Deserialize<'de> for SearchRequest<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Tree::deserialize(deserializer)?.to_text();
        SearchRequest::from_json(&text).map_err(de::Error::custom)
    }
}

/// A JSON value.
enum Tree {
    Null,
    Bool(bool),
    U64(u64),
    I64(i64),
    F64(f64),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn read(text: &str) -> Done<Tree> {
        let mut reader = Reader::new(text, "JSON")?;
        let tree = Tree::read_value(&mut reader)?;
        reader.end().map(|()| tree)
    }

    fn read_value(reader: &mut Reader<'_>) -> Done<Tree> {
        match reader.next_byte() {
            Some(b'{') => {
                let mut fields = vec![];
                reader.object(&[], |reader, name| {
                    fields.push((name.to_owned(), Tree::read_value(reader)?));
                    Ok(true)
                })?;
                Ok(Tree::Object(fields))
            }
            Some(b'[') => reader.array(Tree::read_value).map(Tree::List),
            Some(b'"') => reader.string().map(Tree::Text),
            Some(b'-' | b'0'..=b'9') => reader.number_as("a number", |digits| {
                let whole = || digits.parse().map(Tree::U64).ok();
                let negative = || digits.parse().map(Tree::I64).ok();
                let number = || digits.parse().map(Tree::F64).ok();
                whole().or_else(negative).or_else(number)
            }),
            Some(b'n') => Ok(reader.or_null(Reader::boolean)?.map_or(Tree::Null, Tree::Bool)),
            _ => reader.boolean().map(Tree::Bool),
        }
    }

    fn to_text(&self) -> String {
        let mut json = Json::default();
        self.write(&mut json);
        json.out
    }

    fn write(&self, json: &mut Json) {
        match self {
            Tree::Null => json.null(),
            Tree::Bool(is_true) => json.boolean(*is_true),
            Tree::U64(number) => json.number(number),
            Tree::I64(number) => json.number(number),
            Tree::F64(number) => json.float(*number),
            Tree::Text(text) => json.string(text),
            Tree::List(items) => json.array(items, |json, item| item.write(json)),
            Tree::Object(fields) => json.object(|json| {
                for (name, value) in fields {
                    value.write(json.field(name));
                }
            }),
        }
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Tree::Null => serializer.serialize_unit(),
            Tree::Bool(is_true) => serializer.serialize_bool(*is_true),
            Tree::U64(number) => serializer.serialize_u64(*number),
            Tree::I64(number) => serializer.serialize_i64(*number),
            Tree::F64(number) => serializer.serialize_f64(*number),
            Tree::Text(text) => serializer.serialize_str(text),
            Tree::List(items) => serializer.collect_seq(items),
            Tree::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyTree)
    }
}

struct AnyTree;

impl<'de> Visitor<'de> for AnyTree {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::I64(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::U64(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::F64(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut items = vec![];
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields = vec![];
        while let Some(name) = map.next_key::<String>()? {
            if fields.is_empty() && name == NUMBER_OF_DIGITS {
                return Tree::read(&map.next_value::<String>()?).map_err(de::Error::custom);
            }
            fields.push((name, map.next_value()?));
        }
        Ok(Tree::Object(fields))
    }
}
