//! Order of documents that brings those with common terms together: recursive graph bisection.
//!
//! Posting lists keep the gaps between documents, so they are the smaller the nearer the documents of a term stand, and whole
//! blocks of them can be left out by their bounds. To find the best order is hopeless; this one comes near to it: all
//! documents are put in two halves that share as few terms as can be, then each half in halves of its own, down to
//! [`LEAF_DOCS`](levels::LEAF_DOCS) documents, which stay as they stood.
//! A [step](halves) begins with the order that there is, weighs each document by where the others with its terms
//! stand, and lets those change sides that gain the most by it, again and again.
//!
//! By Dhulipala, Kabiljo, Karrer, Ottaviano, Pupyrev and Shalita, "Compressing Graphs and Indexes with Recursive Graph Bisection"
//! (KDD 2016), with what Mackenzie, Petri and Moffat, "Tradeoff Options for Bipartite Graph Partitioning" (TKDE 2022), leave out of
//! it: a gain is weighed by one logarithm for each half (section 3), and rounds end sooner the more there were (section 4). Lucene's
//! `BPIndexReorderer` does so, too.
//!
//! # Determinism
//!
//! The order depends on the [graph](Graph) and on nothing else: weights are whole numbers, which are the same in whatever order they are
//! added up, documents of the same weight have an order, and no step looks at what another does.
//!
//! # Cost
//!
//! Up to twenty passes over the postings for each of log2(documents / 32) levels, about 1 ns a posting. Memory: the graph,
//! 8 bytes a document, and 16 bytes a term for each thread.

mod graph;
mod halves;
mod levels;
mod log2;
mod team;

pub(crate) use graph::{Graph, GraphBuilder, POSTING_BYTES, POSTINGS_MAX};

use crate::error::Result;
use halves::Seat;
use rayon::ThreadPool;
use std::sync::Arc;

/// The number that each document gets, by its number in the graph. On the threads of a pool, or on this one alone;
/// `on_progress` is told on this thread, now and then, how much is done and how much there is to do.
///
/// # Errors
///
/// [`ErrorKind::Cancelled`](crate::error::ErrorKind::Cancelled) and [`ErrorKind::Timeout`](crate::error::ErrorKind::Timeout), by the
/// budget of this thread.
pub(crate) fn order(
    graph: &Arc<Graph>,
    pool: Option<&ThreadPool>,
    mut on_progress: impl FnMut(u64, u64),
) -> Result<Vec<u32>> {
    let seats: Vec<_> = (0..graph.n_docs()).map(Seat::new).collect();
    let total = levels::work_of(seats.len());
    let mut tell = |done: u64| on_progress(done.min(total), total);
    tell(0);
    let seats = match pool {
        None => levels::split_alone(graph, seats, &mut tell)?,
        Some(pool) => team::split_on(pool, graph, seats, &mut tell)?,
    };
    let mut numbers = vec![0; seats.len()];
    (0..).zip(&seats).for_each(|(number, seat)| numbers[seat.doc() as usize] = number);
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, CancelToken};
    use crate::error::ErrorKind;
    use rayon::ThreadPoolBuilder;

    /// Documents of topics, in an order that has nothing to do with these: a term that all have, some of the topic, and one of
    /// few others.
    fn topics(n_docs: u32, n_topics: u32) -> (Arc<Graph>, impl Fn(u32) -> u32) {
        let topic_of = move |doc: u32| doc.wrapping_mul(2_654_435_761) >> 7 & (n_topics - 1);
        let docs: Vec<Vec<u32>> = (0..n_docs)
            .map(|doc| {
                let of_topic = 1 + topic_of(doc) * 4;
                let rare = 1 + n_topics * 4 + doc * 31 % 97;
                vec![0, of_topic + doc % 4, of_topic + doc / 4 % 4, rare]
            })
            .collect();
        let docs: Vec<&[u32]> = docs.iter().map(|terms| &terms[..]).collect();
        (Arc::new(graph::of(&docs, 1 + n_topics * 4 + 97)), topic_of)
    }

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn documents_of_a_topic_stand_together() {
        let n_docs = 6_000;
        let (graph, topic_of) = topics(n_docs, 8);
        let numbers = order(&graph, None, |_, _| ()).unwrap();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..n_docs), "each number once");
        let mut topics = vec![0; n_docs as usize];
        (0..).zip(&numbers).for_each(|(doc, number)| topics[*number as usize] = topic_of(doc));
        let n_borders = topics.windows(2).filter(|two| two[0] != two[1]).count();
        let before = (1..n_docs).filter(|doc| topic_of(*doc) != topic_of(*doc - 1)).count();
        assert!(n_borders * 5 < before, "{n_borders} of {before}");
    }

    #[test]
    fn any_number_of_threads_makes_the_same_order() {
        for n_docs in [0, 1, 2, 31, 33, 10_001, 40_000] {
            let (graph, _) = topics(n_docs, 16);
            let expected = order(&graph, None, |_, _| ()).unwrap();
            for threads in [1, 2, 3, 7] {
                let numbers = order(&graph, Some(&pool(threads)), |_, _| ()).unwrap();
                assert_eq!(numbers, expected, "{n_docs} documents, {threads} threads");
            }
        }
    }

    #[test]
    fn documents_without_terms_and_those_of_the_same_stay_as_they_stand() {
        for terms in [&[][..], &[0, 1]] {
            let docs = vec![terms; 1_000];
            let numbers = order(&Arc::new(graph::of(&docs, 2)), None, |_, _| ()).unwrap();
            assert!(numbers.into_iter().eq(0..1_000));
        }
    }

    #[test]
    fn it_is_told_how_far_it_is_and_can_be_stopped() {
        let (graph, _) = topics(20_000, 16);
        let mut told = vec![];
        order(&graph, None, |done, total| told.push((done, total))).unwrap();
        assert!(told.is_sorted());
        assert_eq!((told[0].0, told.last().unwrap().0), (0, told[0].1));
        let token = CancelToken::new();
        token.cancel();
        for pool in [None, Some(pool(2))] {
            let ordered = || order(&graph, pool.as_ref(), |_, _| ());
            let error = Budget::new().cancel(&token).run(ordered).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled);
        }
        for n in [0, 1, 100] {
            let stopped = Budget::stopping_at(n).run(|| order(&graph, None, |_, _| ()));
            assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Timeout);
        }
    }
    /// Threads that wait for whoever orders, who would wait for them.
    #[test]
    fn it_does_not_wait_for_threads_that_are_busy() {
        let (graph, _) = topics(10_000, 16);
        let expected = order(&graph, None, |_, _| ()).unwrap();
        let pool = pool(2);
        let ends = Arc::new(std::sync::Barrier::new(3));
        for _ in 0..2 {
            let ends = Arc::clone(&ends);
            pool.spawn(move || _ = ends.wait());
        }
        assert_eq!(order(&graph, Some(&pool), |_, _| ()).unwrap(), expected);
        ends.wait();
    }
}
