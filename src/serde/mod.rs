//! Own structs as documents and from hits, by serde (feature `serde`).
//!
//! [`to_document`] makes a document of whatever is [`Serialize`], [`from_hit`] and [`from_fields`] make whatever is
//! [`Deserialize`](serde_core::Deserialize) of stored fields. Plans, requests, cursors and values are both, so that they go into
//! whatever format serde has.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use treepie::{Index, Schema, Timestamp};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Film {
//!     title: String,
//!     year: Option<u16>,
//!     #[serde(default)] // a list may be empty
//!     genres: Vec<String>,
//!     seen: Timestamp,
//!     director: Person,
//! }
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Person {
//!     name: String,
//! }
//!
//! let schema = Schema::builder().text("title").u64("year").keyword("genres").date("seen").text("director.name");
//! let index = Index::in_memory(schema.build()?);
//! let film = Film {
//!     title: "Paris, Texas".into(),
//!     year: Some(1984),
//!     genres: vec!["drama".into(), "road movie".into()],
//!     seen: "2024-05-06T20:15Z".parse()?,
//!     director: Person { name: "Wim Wenders".into() },
//! };
//! let mut writer = index.writer()?;
//! writer.add(treepie::serde::to_document(&film)?)?;
//! writer.commit()?;
//!
//! let searcher = index.searcher()?;
//! let page = searcher.search(&searcher.parse("director.name:wenders")?).run()?;
//! assert_eq!(treepie::serde::from_hit::<Film>(&page.hits[0])?, film);
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # What becomes what
//!
//! | in a struct | in a document |
//! |---|---|
//! | a number, a boolean, a text, a character | a value of the field |
//! | `None`, `()` | null: the field has no value |
//! | a list, a tuple, a set | several values, in their order; none of an empty list |
//! | a struct or a map in a field | fields whose names have a point: `director.name` |
//! | a variant of an enum without data | its name, as a text |
//! | [`Timestamp`](crate::Timestamp), [`Decimal`](crate::Decimal), `IpAddr`, `jiff::Timestamp`, `chrono::DateTime<Utc>` | the text that serde writes, which fields of these kinds read |
//! | a list of numbers, in a field of vectors | one vector; a list of such lists is several |
//! | a list of structs or of lists of other values, a variant with data, bytes | an error: a document has no place for it |
//!
//! Back it goes the same way. A field without a value is no field of a hit, so that a list that may be empty needs
//! `#[serde(default)]`; an `Option` is `None`. Fields that are not stored do not come back. Dates come back in UTC, which
//! `jiff::civil::Date`, `chrono::NaiveDate` and other types without an offset do not read. `SystemTime` is a struct to serde, so
//! that [`Document::with`] is the way of it into a document.

mod document;
mod fields;
mod json;
mod values;

use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::hits::Hit;
use crate::value::stored::Fields;
use serde_core::de::DeserializeOwned;
use serde_core::{Serialize, de, ser};
use std::fmt;

/// Makes a document of a struct or a map. Names of fields are those that serde gives.
///
/// # Errors
///
/// [`ErrorKind::Document`] for what a document cannot hold, with the name of the field. Whether the schema has these fields is
/// seen when the document is [added](crate::IndexWriter::add).
pub fn to_document<T: Serialize + ?Sized>(value: &T) -> Result<Document> {
    document::of(value)
}

/// Makes a struct or a map of the stored fields of a hit.
///
/// # Errors
///
/// Fails like [`from_fields`].
pub fn from_hit<T: DeserializeOwned>(hit: &Hit) -> Result<T> {
    from_fields(&hit.fields)
}

/// Makes a struct or a map of stored fields, as [`Searcher::document`](crate::Searcher::document) gives them.
///
/// # Errors
///
/// [`ErrorKind::Document`] for values of another type or several if one is wanted, with the name of the field, and for a
/// field that is missing.
pub fn from_fields<T: DeserializeOwned>(fields: &Fields) -> Result<T> {
    fields::read(fields)
}

/// An error that serde can make, too.
#[derive(Debug)]
struct Wrong(Error);

impl Wrong {
    fn new(what: &str, expected: &str, found: impl Into<String>) -> Self {
        Wrong(Error::new(ErrorKind::Document, what).expected(expected).found(found))
    }

    /// Says which field it is about.
    fn in_field(self, name: &str) -> Self {
        Wrong(self.0.during(format_args!("field '{name}'")))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Wrong {}

impl ser::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Wrong(Error::new(ErrorKind::Document, message.to_string()))
    }
}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Wrong(Error::new(ErrorKind::Document, message.to_string()))
    }

    fn missing_field(field: &'static str) -> Self {
        let error = Error::new(ErrorKind::Document, "reading stored fields into a struct");
        let error = error.expected(format!("the field '{field}'")).found("none");
        Wrong(
            error.hint(
                "make it an Option, or give it #[serde(default)], if documents may be without",
            ),
        )
    }
}
