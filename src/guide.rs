//! A guide in nine short pages, from a first index to programs in production. Its examples are tested.
//!
//! | page | for |
//! |---|---|
//! | [First index](first_index) | an index of a CSV file, and the same from Rust |
//! | [Schema and analyzers](schema_and_analyzers) | fields, types, inputs, and what each analyzer finds |
//! | [Query language](query_language) | everything that a query can say |
//! | [Ranking](ranking) | scores, and how to change and measure them |
//! | [Facets and order](facets_and_order) | counts, selections, statistics, sorting, pages |
//! | [Explain](explain) | slow queries, missing documents, and a glossary of all words in plans |
//! | [Writing all day](writing) | commits, flushes, deletes, many threads, merges |
//! | [Operations](operations) | verify, recover, copy, limits |
//! | [Embedding](embedding) | sharing, web handlers, own structs, async runtimes, errors |

#[doc = include_str!("docs/guide/first-index.md")]
pub mod first_index {}

#[doc = include_str!("docs/guide/schema.md")]
pub mod schema_and_analyzers {}

#[doc = include_str!("docs/guide/query-language.md")]
pub mod query_language {}

#[doc = include_str!("docs/guide/ranking.md")]
pub mod ranking {}

#[doc = include_str!("docs/guide/facets.md")]
pub mod facets_and_order {}

#[doc = include_str!("docs/guide/explain.md")]
pub mod explain {}

#[doc = include_str!("docs/guide/writing.md")]
pub mod writing {}

#[doc = include_str!("docs/guide/operations.md")]
pub mod operations {}

#[doc = include_str!("docs/guide/embedding.md")]
pub mod embedding {}
