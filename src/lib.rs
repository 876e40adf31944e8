//! An embeddable full-text index: the SQLite of search.
//!
//! Documents go into a directory of write-once files; questions are answered on the mapped bytes of
//! those files, with nothing materialised on the heap. Opening an index takes a fraction of a
//! millisecond whatever its size, and every query can say how it was answered and why.
//!
//! ```
//! use treepie::{Document, Index, Schema};
//! # let dir = std::env::temp_dir().join(format!("treepie-doc-tour-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&dir);
//!
//! let schema = Schema::builder().text("title").keyword("kind").build()?;
//! let index = Index::open_or_create(&dir, schema)?;
//! let mut writer = index.writer()?;
//! writer.add(Document::new().with("title", "Paris, Texas").with("kind", "film"))?;
//! writer.add(Document::new().with("title", "Paris").with("kind", "city"))?;
//! writer.add(Document::new().with("title", "London").with("kind", "city"))?;
//! writer.commit()?; // Ok = it survives a power failure
//!
//! let searcher = index.searcher()?; // one immutable snapshot; cheap to clone, Send + Sync
//! let query = searcher.parse("paris -kind:city")?;
//! assert_eq!(searcher.count(&query)?, 1);
//!
//! let page = searcher.search(&query).limit(10).facet("kind", 5).run()?;
//! for hit in &page.hits {
//!     println!("{}: {}", hit.doc, hit.fields["title"]);
//! }
//! println!("{}", searcher.explain(&query)?); // how it will be answered
//! println!("{}", searcher.search(&query).analyze()?); // and how it was
//! # drop(writer);
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # Map
//!
//! The modules below are listed from the ground up; each uses only those above it, and a test keeps
//! it so.
//!
//! ```text
//! write:  Document → analysis → writer (batches, runs, merge) → segment::builder → format → storage
//!                                 commit: sync the segment, publish the manifest, collect what is old
//! read:   text → query → request → bind → plan → execution (matching, ranking, facet, sort) → hits
//!                                 plan and profile → explain → text, JSON
//!                query and stored text → highlight
//! ```
//!
//! The two paths meet in `segment` and nowhere else. [`format`](mod@format) is everything that is on disk, one
//! module a structure, each with its specification as its documentation; [`storage`] is every access
//! to a file; [`bitmap`] is roaring bitmaps read where they lie, and good to use alone.
//!
//! # One query, from text to page
//!
//! These are the files that a query passes through, in the order of their calls by `searcher/answer.rs` and `execution/mod.rs`.
//! It is that of the modules below but for one climb back to `query`, as names and words get their meaning once there is a snapshot
//! to search. A test keeps it so.
//!
//! ```text
//! text
//!  │  query/parser/mod.rs    text → Query: operators, words, ranges, as they were written
//!  │  request/mod.rs         with page, order, facets and limits → SearchRequest: plain data, and the key of the cache
//!  ╰▲ the climb, by searcher/answer.rs, which runs a request and calls all that follows
//!  │  query/bind/mod.rs      Query → Logical: ids of fields, terms, and what each part adds to a score; and of that
//!  │                         Normal, which says what matches and is as small as the laws of sets make it
//!  │  look_ups.rs            each term, once in each segment
//!  │  weight/mod.rs          Logical → weights of its terms and phrases, which scores are made of
//!  │  plan/planner.rs        Normal → Plan: operators, each with its estimate, its cost and its way
//!  │  plan/page.rs           the operator of the plan that makes the page: TopK, Sort, Collapse, Fuse, Limit or Count
//!  │  matching/mod.rs        documents that match, their number, and a profile of what found them
//!  │  ranking/search.rs      the best by score, by bounds of blocks or of all that matches
//!  │  facet/terms.rs         counts of the values that the matches have in a field
//!  │  sort/first.rs          the first by values of fields, in place of the best
//!  │  execution/mod.rs       the plan carried out: one function for each operator, which calls these four
//!  │  explain/from_plan.rs   plan and profile → ExplainTree, if somebody asks
//!  ▼  searcher/answer.rs     documents and their stored fields → Hits
//! page
//! ```
//!
//! # Where names are
//!
//! Names that most programs use are here, at the root. The rest is in modules that are named like their field:
//! [`schema`], [`query`], [`search`], [`facet`], [`function`] (scores and orders by formulas), [`highlight`],
//! [`writer`], [`value`], [`analysis`], [`explain`], [`inspect`], [`events`], [`error`].
//!
//! Failures that an index survives, and the tests that show it, are listed in [`reliability`]; [`events`] tells
//! what an index does while it is written to. The [`guide`] leads from a first index to programs in production.
//!
//! # Features
//!
//! `cli` (default) is for the command-line tool, and brings `stem` along. `stem` adds the stems of words
//! ([`analysis`]), and `collation`, the order of keywords in each language ([`SortKey::collated`]). `zones`, which `cli` has, too,
//! knows the time zones of the IANA database by their names. `tracing` tells the [`events`] to whatever subscribes to that crate. `arrow` gives hits, columns
//! and facets as record batches of Apache Arrow (the module `arrow`), and `search --format arrow` of the tool. `serde` makes documents of own structs,
//! own structs of hits, and writes plans (the module `serde`). The library alone
//! is `default-features = false`.
#![deny(missing_docs)]

#[cfg(test)]
mod test_sizes;
pub mod error;
mod plural;
mod sums;
mod compared;
mod named;
mod terminal;
mod console;
mod difference;
mod json;
#[cfg(feature = "viewer")]
mod page;
pub mod events;
mod bytes;
mod few_map;
mod recycle;
mod term;
mod sync;
mod limits;
mod budget;
mod checksum;
mod simd;
mod ids;
pub mod bitmap;
pub mod geo;
pub mod schema;
pub mod value;
mod document;
pub mod analysis;
pub mod storage;
pub mod format;
mod bisection;
mod graph;
mod segment;
mod expansion;
pub mod query;
pub mod highlight;
mod phrase;
mod doc_id_set;
mod nearest;
mod look_ups;
pub mod function;
mod weight;
mod plan;
mod matching;
pub mod writer;
mod deletion;
mod shared_writer;
mod ranking;
pub mod facet;
mod sort;
mod request;
mod hits;
mod execution;
pub mod explain;
mod searcher;
mod reader;
pub mod inspect;
mod index;
pub mod search;
mod transfer;
mod calibrate;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "serde")]
pub mod serde;
pub mod guide;
#[cfg(all(test, treepie_schedules))]
mod schedules;

pub use budget::{Budget, CancelToken};
pub use calibrate::calibrate;
pub use document::Document;
pub use error::{Error, ErrorKind, Result};
pub use hits::{Hit, Hits};
pub use ids::DocId;
pub use index::{Index, IndexOptions};
pub use limits::Limits;
pub use reader::IndexReader;
pub use request::{After, Facet, SearchRequest};
pub use schema::{Field, FieldKind, Schema, SchemaBuilder};
pub use searcher::{SearchBuilder, Searcher};
pub use shared_writer::SharedWriter;
pub use sort::SortKey;
pub use value::{Decimal, Timestamp, Value};
pub use writer::{IndexWriter, WriterOptions};

#[doc = include_str!("docs/reliability.md")]
pub mod reliability {}

/// The example in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
