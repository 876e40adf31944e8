//! `treepie search --format arrow`: hits, or the buckets of one facet, as record batches.

use std::io::{self, IsTerminal};

use treepie::{Error, Hits, Schema, SearchBuilder};

use super::facet;
use crate::failure::{Outcome, usage};

/// Refuses what is not one table, a terminal, and builds that cannot.
pub(crate) fn check(count: bool, facets: &[String], statistics: &[String]) -> Outcome<()> {
    if !cfg!(feature = "arrow") {
        return Err(usage("--format arrow")
            .expected("a build with the feature `arrow`")
            .found("one without")
            .hint("cargo install treepie --features arrow; or --format jsonl")
            .into());
    }
    if io::stdout().is_terminal() {
        return Err(usage("record batches are bytes, and not for a terminal")
            .hint("send them to a file or into a pipe")
            .into());
    }
    if count || !statistics.is_empty() {
        return Err(usage("--format arrow prints hits or the buckets of a facet").into());
    }
    if facets.len() > 1 || facet::are_nested(facets) {
        return Err(usage("several facets are several tables")
            .hint("one --facet with --limit 0, which does not lie within another")
            .into());
    }
    Ok(())
}

/// Answers a search as a stream of one batch: the facet if one is asked for, otherwise the hits.
#[cfg(feature = "arrow")]
pub(crate) fn answer(schema: &Schema, search: SearchBuilder<'_>) -> Result<(Hits, Vec<u8>), Error> {
    use treepie::arrow;

    let table = arrow::HitTable::of(&search)?;
    let found = search.run()?;
    let batch = match found.facets.first() {
        Some(counts) => arrow::facet(schema, counts)?,
        None => table.batch(&found.hits)?,
    };
    let mut stream = vec![];
    arrow::write_stream(&mut stream, &batch.schema(), [Ok(batch)])?;
    Ok((found, stream))
}

/// [`check`] has refused it.
#[cfg(not(feature = "arrow"))]
pub(crate) fn answer(_: &Schema, search: SearchBuilder<'_>) -> Result<(Hits, Vec<u8>), Error> {
    Ok((search.run()?, vec![]))
}
