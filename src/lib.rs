//! treepie: an embeddable full-text index.
#![deny(missing_docs)]

pub mod error;
mod terminal;
mod bytes;
mod checksum;
mod simd;
mod ids;
pub mod bitmap;
pub mod schema;
mod document;
pub mod analysis;
pub mod storage;
pub mod format;
mod segment;
mod writer;
pub mod query;
mod plan;
mod execution;
mod facet;
pub mod explain;
mod searcher;
pub mod inspect;
mod index;

pub use document::Document;
pub use error::{Error, ErrorKind, Result};
pub use ids::DocId;
pub use index::{Index, IndexOptions};
pub use schema::{Field, FieldKind, Schema, SchemaBuilder};
pub use searcher::{
    Bucket, FacetCounts, Fields, Hit, Hits, PreparedCount, Relation, SearchBuilder, Searcher,
    Total, TotalMode, Value,
};
pub use writer::{
    BadLines, CommitInfo, DOCUMENT_BYTES_MAX, IndexWriter, LineFormat, LinesReport, Progress,
    VALUE_BYTES_MAX, WriterOptions,
};

/// The example in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
