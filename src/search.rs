//! Searches: what can be asked for, what comes back, and what keeps it fast.
//!
//! [`SearchBuilder`] says what is wanted of one search and [`Hits`] are its answer. A [`SearchRequest`] is the same as data, a
//! [`PreparedSearch`] is run again and again, and an [`Explainer`] answers questions about a search.
//!
//! ```
//! use treepie::search::{Order, Relation, TotalMode};
//! use treepie::{Document, Index, Schema};
//!
//! let index = Index::in_memory(Schema::builder().text("title").build()?);
//! let mut writer = index.writer()?;
//! for title in ["Paris, Texas", "Paris", "London"] {
//!     writer.add(Document::new().with("title", title))?;
//! }
//! writer.commit()?;
//! let searcher = index.searcher()?;
//! let query = searcher.parse("paris")?;
//! let oldest = searcher.search(&query).order(Order::Document).total(TotalMode::Exact).limit(1);
//! let page = oldest.run()?;
//! assert_eq!(page.hits[0].fields["title"].to_string(), "Paris, Texas");
//! assert_eq!((page.total.value, page.total.relation), (2, Relation::Exact));
//! # Ok::<(), treepie::Error>(())
//! ```

pub use crate::budget::{Budget, CancelToken, QUERY_MEMORY_BYTES};
pub use crate::hits::{
    FieldDistance, FieldSimilarity, FusedPart, Hit, Hits, Relation, Stopped, Total,
};
pub use crate::reader::{IndexReader, Subscription};
pub use crate::request::{
    After, Collapse, CollectionStatistics, FieldCounts, Fusion, FusionMethod, IdfScope, Order,
    REQUEST_JSON_SCHEMA, REQUEST_SCHEMA_VERSION, RankedList, SearchRequest, TotalMode,
};
pub use crate::searcher::{
    Etag, Explainer, PreparedSearch, ResultCacheStats, SearchBuilder, Searcher, SlowLog,
};
pub use crate::sort::SortKey;
pub use crate::value::stored::{Fields, Values};
