//! An order of documents in which those of the same terms stand near each other: recursive graph bisection.
//!
//! Posting lists keep the gaps between documents, so they are the smaller the nearer the documents of a term stand, and whole
//! blocks of them can be left out by their bounds. To find the best order is hopeless; this one comes near to it: all
//! documents are put in two halves that share as few terms as can be, then each half in halves of its own, down to
//! [`LEAF_DOCS`] documents, which stay as they stood.
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
//! Up to twenty passes over the postings for each of log2(documents / [`LEAF_DOCS`]) levels, about 1 ns a posting. Memory: the graph,
//! 8 bytes a document, and 16 bytes a term for each thread.

mod graph;
mod halves;
mod log2;

pub(crate) use graph::{Graph, GraphBuilder, POSTING_BYTES, POSTINGS_MAX};

use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use halves::{Scratch, Seat, Step};
use rayon::ThreadPool;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Documents that are not split any more: what is left to gain is less than a step takes.
const LEAF_DOCS: usize = 32;
/// Documents that one thread splits down to the last.
const ALONE_DOCS: usize = 1 << 12;
/// What a document takes about in one round, in nanoseconds.
const DOC_NS: u64 = 50;
/// How often whoever waits for other threads tells how far they are, and asks whether to stop.
const TICK: Duration = Duration::from_millis(5);

/// The number that each document gets, by its number in the graph. On the threads of a pool, or on this one alone;
/// `on_progress` is told on this thread, now and then, how much is done and how much there is to do.
///
/// # Errors
///
/// [`ErrorKind::Cancelled`] and [`ErrorKind::Timeout`], by the budget of this thread.
pub(crate) fn order(
    graph: &Graph,
    pool: Option<&ThreadPool>,
    mut on_progress: impl FnMut(u64, u64),
) -> Result<Vec<u32>> {
    let mut seats: Vec<_> = (0..graph.n_docs()).map(Seat::new).collect();
    let total = work_of(seats.len());
    let mut tell = |done: u64| on_progress(done.min(total), total);
    tell(0);
    match pool {
        None => alone(graph, &mut seats, &mut tell)?,
        Some(pool) => shared(graph, &mut seats, pool, &mut tell)?,
    }
    let mut numbers = vec![0; seats.len()];
    (0..).zip(&seats).for_each(|(number, seat)| numbers[seat.doc() as usize] = number);
    Ok(numbers)
}

/// Documents that are put in halves in all, each as often as it is.
fn work_of(n_docs: usize) -> u64 {
    let (mut largest, mut levels) = (n_docs, 0);
    while largest > LEAF_DOCS {
        (largest, levels) = (largest.div_ceil(2), levels + 1);
    }
    n_docs as u64 * levels
}

fn alone(graph: &Graph, seats: &mut [Seat], tell: &mut impl FnMut(u64)) -> Result<()> {
    let step = Step { graph, is_shared: false, ask: &|n| budget::work(DOC_NS * n as u64) };
    let mut done = 0;
    split_all(&step, seats, &mut Scratch::new(graph.n_terms()), |n| {
        done += n as u64;
        tell(done);
    })
}

/// Splits documents, and their halves, down to the last; `did` is told of how many were put in halves.
fn split_all<A: Fn(usize) -> Result<()> + Sync>(
    step: &Step<'_, A>,
    seats: &mut [Seat],
    scratch: &mut Scratch,
    mut did: impl FnMut(usize),
) -> Result<()> {
    let mut left = vec![seats];
    while let Some(seats) = left.pop() {
        if seats.len() > LEAF_DOCS {
            step.split(seats, scratch)?;
            did(seats.len());
            let (first, second) = seats.split_at_mut(seats.len() / 2);
            left.extend([second, first]);
        }
    }
    Ok(())
}

/// The same on the threads of a pool, for which this one waits.
fn shared(
    graph: &Graph,
    seats: &mut [Seat],
    pool: &ThreadPool,
    tell: &mut impl FnMut(u64),
) -> Result<()> {
    let team = Team {
        graph,
        shared_docs_min: seats.len() / pool.current_num_threads().max(1),
        scratches: Mutex::default(),
        stops: AtomicBool::new(false),
        n_done: AtomicU64::new(0),
    };
    let (ended, end) = channel();
    pool.in_place_scope(|scope| {
        scope.spawn(|_| {
            let ended: Sender<()> = ended;
            // It ends early where whoever waits says so, and knows why.
            let _ = team.split_all(seats);
            drop(ended);
        });
        let mut stopped = Ok(());
        while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if stopped.is_ok() {
                stopped = budget::work(TICK.as_nanos() as u64);
                team.stops.store(stopped.is_err(), Ordering::Relaxed);
                tell(team.n_done.load(Ordering::Relaxed));
            }
        }
        stopped
    })
}

/// The threads that split documents together.
struct Team<'g> {
    graph: &'g Graph,
    /// Documents whose step is worth more than one thread, as there are not as many steps as threads yet.
    shared_docs_min: usize,
    /// Those that no thread uses.
    scratches: Mutex<Vec<Scratch>>,
    stops: AtomicBool,
    n_done: AtomicU64,
}

impl Team<'_> {
    fn split_all(&self, seats: &mut [Seat]) -> Result<()> {
        let ask = |_| match self.stops.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Cancelled, "ordering documents by similarity")),
            false => Ok(()),
        };
        let is_shared = seats.len() > self.shared_docs_min;
        let step = Step { graph: self.graph, is_shared, ask: &ask };
        let did = |n: usize| _ = self.n_done.fetch_add(n as u64, Ordering::Relaxed);
        if seats.len() <= ALONE_DOCS {
            return self.with_scratch(|scratch| split_all(&step, seats, scratch, did));
        }
        // Not for as long as the halves take: another step may run on this thread meanwhile.
        self.with_scratch(|scratch| step.split(seats, scratch))?;
        did(seats.len());
        let (first, second) = seats.split_at_mut(seats.len() / 2);
        let (first, second) = rayon::join(|| self.split_all(first), || self.split_all(second));
        first.and(second)
    }

    fn with_scratch(&self, f: impl FnOnce(&mut Scratch) -> Result<()>) -> Result<()> {
        let free = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let mut scratch = taken.unwrap_or_else(|| Scratch::new(self.graph.n_terms()));
        f(&mut scratch)?;
        free().push(scratch);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, CancelToken};
    use rayon::ThreadPoolBuilder;

    /// Documents of topics, in an order that has nothing to do with these: a term that all have, some of the topic, and one of
    /// few others.
    fn topics(n_docs: u32, n_topics: u32) -> (Graph, impl Fn(u32) -> u32) {
        let topic_of = move |doc: u32| doc.wrapping_mul(2_654_435_761) >> 7 & (n_topics - 1);
        let docs: Vec<Vec<u32>> = (0..n_docs)
            .map(|doc| {
                let of_topic = 1 + topic_of(doc) * 4;
                let rare = 1 + n_topics * 4 + doc * 31 % 97;
                vec![0, of_topic + doc % 4, of_topic + doc / 4 % 4, rare]
            })
            .collect();
        let docs: Vec<&[u32]> = docs.iter().map(|terms| &terms[..]).collect();
        (graph::of(&docs, 1 + n_topics * 4 + 97), topic_of)
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
            let numbers = order(&graph::of(&docs, 2), None, |_, _| ()).unwrap();
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
}
