//! Tests that see the library as its users do, in one binary.

mod added_fields;
mod allocations;
mod analysis;
mod buckets;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod cli_values;
#[cfg(feature = "cli")]
mod collections;
mod collapse;
mod creating;
mod cut_patterns;
mod deadlines;
mod deletes;
mod disk_full;
mod errors;
mod estimates;
mod events;
mod expansions;
mod facet_ranges;
mod facet_steps;
mod facets;
mod failing;
mod few_deleted;
mod findings;
mod fixtures;
mod functions;
mod golden;
#[cfg(feature = "stem")]
mod guide;
#[path = "../heap/mod.rs"]
mod heap;
mod highlights;
mod inspect;
#[cfg(all(unix, feature = "cli"))]
mod interrupted;
mod lenient;
mod limits;
mod lines;
mod left_out;
mod live;
mod merging;
mod mishaps;
mod naive;
mod fusion;
mod nearest;
mod nearest_cells;
mod normalizers;
mod offsets;
mod oracle;
mod orders;
mod paths;
mod phrases;
mod place_facets;
mod places;
mod plans;
mod points;
mod random;
mod ranges;
mod ranking;
mod recount;
mod result_cache;
mod segment_order;
mod selections;
mod shards;
mod shared;
mod slow_log;
mod similar_order;
mod sorting;
mod states;
mod statistics;
mod streams;
mod term_lookups;
mod typed;
mod vectors;
mod why;
mod why_empty;
mod windows;
mod word_synonyms;
mod words;
#[cfg(feature = "zones")]
mod zones;
