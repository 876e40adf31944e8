//! Numbers of documents that bring similar ones together: the terms looked at, and their documents.
//!
//! Terms of very few documents say little, and those of more than half of all tell nobody from anybody. Of the others the most frequent come first, up to
//! [`TERMS_PER_DOC`] for each document and as many as there is memory for: beyond, the order hardly becomes better, and
//! what it takes grows with them.
//!
//! Cost: three passes over the dictionaries, and two over the lists of the terms that are looked at; then the
//! [`bisection`]. Memory for one term's documents beside the graph.

use crate::bisection::{self, Graph, GraphBuilder, POSTING_BYTES, POSTINGS_MAX};
use crate::bitmap::{ARRAY_MAX, WINDOW};
use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::format::terms::TermInfo;
use crate::ids::FieldId;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::writer::merged_terms::MergedTerms;
use rayon::ThreadPool;
use std::sync::Arc;

/// Terms of each document at the most, at the mean of all. With 96 of the 250 that an article has, the gaps of all lists
/// take 0.5 % more than with 162, in a quarter of the time.
const TERMS_PER_DOC: u64 = 96;
/// Documents of a term at the least.
const TERM_DOCS_MIN: u32 = 4;
/// Bytes of a document in a container that is an array.
const ARRAY_VALUE_BYTES: u64 = 2;

/// Fields, threads and memory for the order of similarity.
#[derive(Clone, Debug)]
pub(super) struct Similarity<'p> {
    /// Fields whose terms count.
    pub(super) fields: Vec<FieldId>,
    /// Bytes that the terms of documents may take.
    pub(super) memory_bytes: usize,
    /// The threads that help; none where this one is alone.
    pub(super) pool: Option<&'p ThreadPool>,
}

/// Segments, each with the numbers that its documents have as they stand behind each other.
pub(super) type InTurn<'a, 's> = (&'a [SegmentReader<'s>], &'a [Renumbering]);

/// The numbers of documents by those that they have in turn; `None` if they stay as they stand.
pub(super) fn number(
    all: InTurn<'_, '_>,
    similarity: &Similarity<'_>,
    on_progress: impl FnMut(u64, u64),
) -> Result<Option<Vec<u32>>> {
    let graph = Arc::new(graph(all, similarity)?);
    let mut numbers = bisection::order(&graph, similarity.pool, on_progress)?;
    turn_round_where_smaller(&graph, &mut numbers);
    Ok((!numbers.is_sorted()).then_some(numbers))
}

/// Turns the order round where lists take fewer bytes then: bisection brings long documents together at one end, whichever, and a
/// container of a list that has most of them is a bitmap, which is smaller than the arrays of two that share them, and faster.
/// Only the last container is one of fewer documents than there is room for.
fn turn_round_where_smaller(graph: &Graph, numbers: &mut [u32]) {
    let n_docs = graph.n_docs();
    if n_docs <= WINDOW {
        return;
    }
    let mut docs = vec![0; numbers.len()];
    (0..).zip(&*numbers).for_each(|(doc, number)| docs[*number as usize] = doc);
    let as_it_is = list_bytes(graph, &docs);
    docs.reverse();
    if list_bytes(graph, &docs) < as_it_is {
        numbers.iter_mut().for_each(|number| *number = n_docs - 1 - *number);
    }
}

/// About how many bytes the containers of all lists take with the documents in this order.
fn list_bytes(graph: &Graph, docs: &[u32]) -> u64 {
    let mut counts = vec![0u32; graph.n_terms() as usize];
    let mut sum = 0;
    for container in docs.chunks(WINDOW as usize) {
        let terms = || container.iter().flat_map(|doc| graph.terms_of(*doc));
        for &term in terms() {
            let count = &mut counts[term as usize];
            *count += 1;
            let is_array = *count as usize <= ARRAY_MAX;
            sum += if is_array { ARRAY_VALUE_BYTES } else { 0 };
        }
        terms().for_each(|term| counts[*term as usize] = 0);
    }
    sum
}

/// Graph of the documents with those of their terms that are looked at.
fn graph(all: InTurn<'_, '_>, similarity: &Similarity<'_>) -> Result<Graph> {
    let n_docs = all.1.iter().map(Renumbering::n_live).sum();
    let mut frequencies = Frequencies::default();
    for &field in &similarity.fields {
        for_each_term(all.0, field, |infos| {
            frequencies.add(df_of(infos));
            Ok(())
        })?;
    }
    let room = similarity.memory_bytes as u64 / POSTING_BYTES;
    let most = room.min(TERMS_PER_DOC * u64::from(n_docs)).min(POSTINGS_MAX);
    let wanted = Wanted { least: frequencies.least(n_docs / 2, most), most: n_docs / 2 };
    let mut builder = GraphBuilder::new(n_docs);
    wanted.for_each_posting(all, &similarity.fields, |doc, _| builder.count(doc))?;
    builder.end_count();
    let n_terms =
        wanted.for_each_posting(all, &similarity.fields, |doc, term| builder.add(doc, term))?;
    Ok(builder.finish(n_terms))
}

/// Calls `visit` with what each segment knows of each term, those of deleted documents among its documents.
fn for_each_term(
    segments: &[SegmentReader<'_>],
    field: FieldId,
    mut visit: impl FnMut(&[(usize, TermInfo)]) -> Result<()>,
) -> Result<()> {
    let mut terms = MergedTerms::open(segments.iter().map(|segment| segment.field(field)))?;
    let mut infos = vec![];
    while let Some(_term) = terms.next(|nth, info| {
        infos.push((nth, *info));
        Ok(())
    })? {
        visit(&infos)?;
        infos.clear();
    }
    Ok(())
}

fn df_of(infos: &[(usize, TermInfo)]) -> u32 {
    infos.iter().fold(0, |sum, (_, info)| sum.saturating_add(info.df))
}

/// The terms that are looked at, by the documents that they have in all segments.
struct Wanted {
    least: u32,
    most: u32,
}

impl Wanted {
    /// Calls `visit` with each document that is not deleted and each of its terms, which are numbered as they come; how many terms
    /// there are.
    fn for_each_posting(
        &self,
        (segments, numbers): InTurn<'_, '_>,
        fields: &[FieldId],
        mut visit: impl FnMut(u32, u32),
    ) -> Result<u32> {
        let (mut n_terms, mut docs) = (0, vec![]);
        for &field in fields {
            for_each_term(segments, field, |infos| {
                if !(self.least..=self.most).contains(&df_of(infos)) {
                    return Ok(());
                }
                for (nth, info) in infos {
                    let (segment, numbers) = (segments[*nth], &numbers[*nth]);
                    docs.clear();
                    segment
                        .field(field)
                        .postings(info)?
                        .decode_into(segment.n_docs(), &mut docs)?;
                    budget::work(ns::SIMILAR_POSTING * docs.len() as u64)?;
                    // The number that was counted on, and no document twice.
                    if docs.len() != info.df as usize || !docs.is_sorted_by(|a, b| a < b) {
                        return Err(Error::corrupt("reading the documents of a term")
                            .expected(format!("{} that ascend", info.df))
                            .found(format!("{} others", docs.len()))
                            .in_file(segment.file().path()));
                    }
                    let live = docs.iter().filter_map(|doc| numbers.get(*doc));
                    live.for_each(|doc| visit(doc, n_terms));
                }
                n_terms += 1;
                Ok(())
            })?;
        }
        Ok(n_terms)
    }
}

/// Document frequencies of terms, in classes: each number up to 32 is one, and beyond there are 16 of them to each
/// power of two.
struct Frequencies {
    /// Postings of the terms of each class.
    postings: [u64; Self::N],
}

impl Default for Frequencies {
    fn default() -> Self {
        Frequencies { postings: [0; Self::N] }
    }
}

impl Frequencies {
    const N: usize = 32 + 16 * 27;

    fn class(df: u32) -> usize {
        match df {
            0..32 => df as usize,
            _ => {
                let power = df.ilog2();
                (32 + 16 * (power - 5) + (df >> (power - 4)) % 16) as usize
            }
        }
    }

    /// The least number of a class.
    fn least_of(class: usize) -> u32 {
        match class {
            0..32 => class as u32,
            _ => (16 + class as u32 % 16) << (class / 16 - 1),
        }
    }

    fn add(&mut self, df: u32) {
        self.postings[Self::class(df)] += u64::from(df);
    }

    /// Documents that a term must have so that those of up to `df_max` have at most `most` postings.
    fn least(&self, df_max: u32, most: u64) -> u32 {
        let mut sum = 0;
        for class in (0..=Self::class(df_max)).rev() {
            sum += self.postings[class];
            if sum > most || class < TERM_DOCS_MIN as usize {
                return Self::least_of(class + 1);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::schema::Schema;
    use crate::segment::snapshot::Snapshot;
    use crate::storage::{MemoryStorage, Storage};
    use crate::writer::{Existing, IndexWriter, WriterOptions};

    #[test]
    fn classes_of_frequencies_ascend_and_are_narrow() {
        let numbers = (0..100_000).chain((17..32).flat_map(|bit| [(1 << bit) - 1, 1 << bit]));
        let numbers: Vec<u32> = numbers.chain([u32::MAX]).collect();
        assert!(numbers.is_sorted_by_key(|df| Frequencies::class(*df)));
        for df in numbers {
            let class = Frequencies::class(df);
            assert!(class < Frequencies::N);
            let least = Frequencies::least_of(class);
            assert!(least <= df && df - least <= df / 16, "{df} in a class from {least}");
            assert_eq!(Frequencies::class(least), class);
        }
    }

    #[test]
    fn the_rarest_terms_are_left_out_where_there_is_no_memory_for_all() {
        let mut frequencies = Frequencies::default();
        for df in [1, 2, 3, 4, 5, 6, 7, 1_000, 5_000] {
            frequencies.add(df);
        }
        let least = |most| frequencies.least(2_000, most);
        assert_eq!(least(10_000), TERM_DOCS_MIN);
        assert_eq!(least(1_022), 4);
        assert_eq!(least(1_021), 5);
        assert_eq!(least(1_017), 6);
        assert!((8..=1_000).contains(&least(1_000)));
        assert!(least(999) > 1_000);
    }

    /// Two segments with deleted documents, and which terms are looked at.
    #[test]
    fn documents_have_the_terms_that_are_looked_at() {
        let schema = Schema::builder().text("t").key("id").build().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let (store, analyzers, published) = (Arc::clone(&storage), Arc::default(), Arc::default());
        let (existing, options) = (Existing::Refuse, WriterOptions::new().threads(1));
        let mut writer =
            IndexWriter::open(store, schema, analyzers, existing, published, options).unwrap();
        // `all` is in each, `few` in three, `a` in every third one, and `b` in the others.
        for id in 0..20 {
            let words =
                ["all", if id % 3 == 0 { "a" } else { "b" }, if id < 3 { "few" } else { "" }];
            writer
                .add(Document::new().with("id", id.to_string()).with("t", words.join(" ")))
                .unwrap();
            if id == 9 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        writer.delete_value("id", "4").unwrap();
        writer.commit().unwrap();
        let snapshot = Snapshot::open(&*storage).unwrap();
        let segments: Vec<_> = snapshot.readers().collect();
        let mut base = 0;
        let in_turn = segments.iter().map(|segment| {
            let numbers = Renumbering::of(*segment, base).unwrap();
            base += numbers.n_live();
            numbers
        });
        let in_turn: Vec<_> = in_turn.collect();
        let of = |memory_bytes| {
            let fields = vec![FieldId(0)];
            graph((&segments, &in_turn), &Similarity { fields, memory_bytes, pool: None }).unwrap()
        };
        let all = of(1 << 20);
        assert_eq!(all.n_docs(), 19);
        // Only `a` is in neither very few nor more than half.
        let ids = (0..20).filter(|id| *id != 4);
        for (doc, id) in (0..).zip(ids) {
            assert_eq!(all.terms_of(doc).len(), usize::from(id % 3 == 0), "{id}");
        }
        // It has seven postings of four bytes.
        assert!((0..19).any(|doc| !of(28).terms_of(doc).is_empty()));
        assert!((0..19).all(|doc| of(27).terms_of(doc).is_empty()));
    }
}
