//! Answers that are kept for those who ask the same again.

use super::search::Search;
use super::{Etag, FacetCounts, Hit, Hits};
use crate::error::Result;
use crate::hits::value_bytes;
use crate::request::{After, Facet, IdfScope, SearchRequest};
use quick_cache::sync::Cache;
use quick_cache::{OptionsBuilder, Weighter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Bytes of an answer in the cache, beside its parts and its key.
const ENTRY_BYTES: usize = 960;
/// Bytes of a part of a request, beside its texts, and of each text.
const PART_BYTES: usize = 128;
const TEXT_BYTES: usize = 40;
/// Usual bytes of an answer, by which the cache remembers how many are asked for again; and how many at most.
const ANSWER_BYTES: u64 = 2_048;
const ANSWERS_MAX: u64 = 1 << 16;
/// The cache has so many parts, each with a lock of its own; an answer fits into one of them.
const SHARDS: usize = 8;

/// Whole answers, up to a number of bytes, each under the snapshot that gave it: none is ever old. Answers of snapshots
/// that nobody asks any more go with time, as do those that are seldom asked for.
#[derive(Debug)]
pub(crate) struct ResultCache {
    answers: Cache<Key, Arc<Hits>, Bytes>,
    bytes_max: u64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// All that an answer depends on: the snapshot, and the request without its limits, by which there is one or none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    etag: Etag,
    /// In memory of its own, as the cache has room for more answers than it keeps.
    request: Box<SearchRequest<'static>>,
}

impl Key {
    fn of(search: &Search<'_>) -> Self {
        let request = SearchRequest { limits: <_>::default(), ..search.request.clone() };
        Key { etag: search.searcher.etag(), request: Box::new(request.into_owned()) }
    }
}

/// Statistics of a [cache of results](crate::IndexOptions::result_cache_bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultCacheStats {
    /// Searches that were answered from the cache.
    pub hits: u64,
    /// Searches that had to run.
    pub misses: u64,
    /// Answers that are in the cache.
    pub entries: usize,
    /// About how many bytes they take.
    pub bytes: u64,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<Key, Arc<Hits>> for Bytes {
    fn weight(&self, key: &Key, answer: &Arc<Hits>) -> u64 {
        weight(key, answer)
    }
}

/// About how many bytes of memory it takes to keep an answer.
fn weight(key: &Key, answer: &Hits) -> u64 {
    let SearchRequest {
        query,
        fields,
        facets,
        selections,
        collapse,
        fusion,
        parameters,
        sort,
        after,
        statistics,
        score_functions,
        ..
    } = &*key.request;
    let names = fields.iter().flatten().chain(parameters.iter().map(|(name, _)| name));
    let after = after.as_ref().and_then(After::sort_values).unwrap_or_default();
    let asked = [
        query.heap_bytes(),
        names.map(|name| TEXT_BYTES + name.len()).sum(),
        after.iter().map(value_bytes).sum(),
        sort.iter().map(|key| TEXT_BYTES + key.n_bytes()).sum(),
        score_functions.iter().map(|it| PART_BYTES + it.n_bytes()).sum(),
        facets.iter().map(|facet| size_of::<Facet>() + facet.n_bytes()).sum(),
        selections.iter().map(|it| PART_BYTES + it.n_bytes()).sum(),
        match statistics {
            IdfScope::Collection(given) => given.n_bytes(),
            IdfScope::Snapshot | IdfScope::Segment => 0,
        },
        collapse.as_ref().map_or(0, |it| it.n_bytes()),
        fusion.as_ref().map_or(0, |it| it.n_bytes()),
    ];
    let asked: usize = asked.into_iter().sum();
    let facets: usize = answer.facets.iter().map(FacetCounts::n_bytes).sum();
    let hits: usize = answer.hits.iter().map(Hit::n_bytes).sum();
    (ENTRY_BYTES + asked + hits + facets) as u64
}

/// Whether there was no memory to count something, so that it may be exact with more.
fn is_open(facet: &Facet, counts: &FacetCounts) -> bool {
    let buckets = counts.buckets.iter().chain(counts.missing_bucket.as_deref());
    !counts.exact
        || buckets
            .flat_map(|bucket| facet.within.facets.iter().zip(&bucket.facets))
            .any(|(facet, counts)| is_open(facet, counts))
}

impl ResultCache {
    pub(crate) fn new(bytes: u64) -> Self {
        let n_answers = (bytes / ANSWER_BYTES).clamp(1, ANSWERS_MAX) as usize;
        let answers = OptionsBuilder::new()
            .estimated_items_capacity(n_answers)
            .weight_capacity(bytes)
            .shards(SHARDS)
            .build()
            .expect("all that is asked for is given");
        let answers = Cache::with_options(answers, Bytes, <_>::default(), <_>::default());
        ResultCache {
            answers,
            bytes_max: bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns the kept answer to a search, or runs it. An answer that is not all of it is not kept.
    pub(super) fn answer(&self, search: &Search<'_>, started: Instant) -> Result<Hits> {
        let key = Key::of(search);
        if let Some(kept) = self.answers.get(&key) {
            self.hits.fetch_add(1, Relaxed);
            let kept = Hits::clone(&kept);
            return Ok(Hits { took: started.elapsed(), from_cache: true, ..kept });
        }
        self.misses.fetch_add(1, Relaxed);
        let answer = search.answer(started)?;
        let facets = key.request.facets.iter().zip(&answer.facets);
        let is_whole = !facets.into_iter().any(|(facet, counts)| is_open(facet, counts));
        if is_whole
            && answer.stopped.is_none()
            && weight(&key, &answer) <= self.bytes_max / SHARDS as u64
        {
            self.answers.insert(key, Arc::new(answer.clone()));
        }
        Ok(answer)
    }

    pub(crate) fn stats(&self) -> ResultCacheStats {
        ResultCacheStats {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            entries: self.answers.len(),
            bytes: self.answers.weight(),
        }
    }
}

impl Search<'_> {
    /// Whether the answer would be one that is kept, as to look is not to ask; `None` where none are kept.
    pub(super) fn is_kept(&self) -> Option<bool> {
        let cache = self.searcher.0.setting.cache.as_ref()?;
        Some(cache.answers.peek(&Key::of(self)).is_some())
    }
}
