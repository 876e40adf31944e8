//! The measures of one ranking, and their means.
//!
//! They are those of [trec_eval](https://github.com/usnistgov/trec_eval) 9 (`m_map.c`,
//! `m_ndcg_cut.c`, `m_P.c`, `m_recip_rank.c`, `m_recall.c`) with its defaults: a judgement above 0
//! is relevant, a document without a judgement is not. The order is that of the ranking, while
//! trec_eval sorts a run again by score and, where scores are equal, by the document's name from
//! the end of the alphabet.
//!
//! With `R` relevant documents judged, `rel(i)` whether rank `i` holds one, `gain(i)` its judgement:
//!
//! ```text
//! average precision   (1/R) Σ rel(i) · (Σ_{j ≤ i} rel(j)) / i         its mean over queries is MAP
//! nDCG@10             DCG of the first ten / DCG of the best possible ten,  DCG = Σ gain(i) / log2(i + 1)
//! P@10                relevant documents among the first ten / 10     also where fewer were found
//! reciprocal rank     1 / rank of the first relevant document, 0 without one; its mean is MRR
//! recall@k            relevant documents among the first k / R
//! ```
//!
//! The gain is the judgement itself (linear), as Järvelin and Kekäläinen, "Cumulated gain-based
//! evaluation of IR techniques" (TOIS 2002), have it; the discount begins with the second rank as in
//! Burges et al. (ICML 2005), which is what trec_eval computes.

use std::collections::HashMap;

/// Ranks that nDCG and precision look at.
const CUT: usize = 10;

/// The figures of one query, or the mean of several; each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measures {
    average_precision: f64,
    ndcg_10: f64,
    precision_10: f64,
    reciprocal_rank: f64,
    recall_100: f64,
    recall_1000: f64,
}

impl Measures {
    /// The names of [`values`](Self::values), as in JSON and in the headers of tables.
    pub(crate) const NAMES: [&str; 6] =
        ["map", "ndcg@10", "p@10", "mrr", "recall@100", "recall@1000"];

    /// The figures in the order of [`NAMES`](Self::NAMES).
    pub(crate) fn values(&self) -> [f64; 6] {
        [
            self.average_precision,
            self.ndcg_10,
            self.precision_10,
            self.reciprocal_rank,
            self.recall_100,
            self.recall_1000,
        ]
    }

    /// Measures one ranking, best first, by the judgements of its query; `None` if no document
    /// is judged relevant, since then nothing could be found.
    pub(crate) fn of(ranking: &[String], judged: &HashMap<String, i64>) -> Option<Measures> {
        let gain = |relevance: i64| relevance.max(0) as f64;
        let n_relevant = judged.values().filter(|relevance| **relevance > 0).count();
        if n_relevant == 0 {
            return None;
        }
        let gains: Vec<f64> =
            ranking.iter().map(|doc| judged.get(doc).map_or(0.0, |found| gain(*found))).collect();
        let mut best: Vec<f64> = judged.values().map(|relevance| gain(*relevance)).collect();
        best.sort_by(|a, b| b.total_cmp(a));

        let (mut n_found, mut precisions, mut first) = (0_u32, 0.0, None);
        for (at, _) in gains.iter().enumerate().filter(|(_, gain)| **gain > 0.0) {
            let rank = (at + 1) as f64;
            n_found += 1;
            precisions += f64::from(n_found) / rank;
            first.get_or_insert(rank);
        }
        let found = |k: usize| gains.iter().take(k).filter(|gain| **gain > 0.0).count() as f64;
        Some(Measures {
            average_precision: precisions / n_relevant as f64,
            ndcg_10: discounted(&gains) / discounted(&best),
            precision_10: found(CUT) / CUT as f64,
            reciprocal_rank: first.map_or(0.0, |rank| 1.0 / rank),
            recall_100: found(100) / n_relevant as f64,
            recall_1000: found(1_000) / n_relevant as f64,
        })
    }

    /// The mean of each figure; `None` of no queries.
    pub(crate) fn mean(of: &[Measures]) -> Option<Measures> {
        if of.is_empty() {
            return None;
        }
        let mean =
            |figure: fn(&Measures) -> f64| of.iter().map(figure).sum::<f64>() / of.len() as f64;
        Some(Measures {
            average_precision: mean(|one| one.average_precision),
            ndcg_10: mean(|one| one.ndcg_10),
            precision_10: mean(|one| one.precision_10),
            reciprocal_rank: mean(|one| one.reciprocal_rank),
            recall_100: mean(|one| one.recall_100),
            recall_1000: mean(|one| one.recall_1000),
        })
    }
}

/// Discounted cumulated gain of the first ten.
fn discounted(gains: &[f64]) -> f64 {
    let discounted = |(at, gain): (usize, &f64)| gain / ((at + 2) as f64).log2();
    gains.iter().take(CUT).enumerate().map(discounted).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(judgements: &[(&str, i64)]) -> HashMap<String, i64> {
        judgements.iter().map(|(doc, relevance)| ((*doc).to_owned(), *relevance)).collect()
    }

    fn ranking(docs: &str) -> Vec<String> {
        docs.split(' ').map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(found: Measures, expected: [f64; 6]) {
        for ((name, found), expected) in Measures::NAMES.iter().zip(found.values()).zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{name}: {found}, expected {expected}");
        }
    }

    /// Worked out by hand: relevant at ranks 1, 3 and 6 of four relevant ones.
    #[test]
    fn the_figures_of_a_small_ranking() {
        let judged = judged(&[("a", 1), ("b", 3), ("c", 2), ("missed", 1), ("no", 0)]);
        let found = Measures::of(&ranking("a x b no y c"), &judged).unwrap();
        let average_precision = (1.0 / 1.0 + 2.0 / 3.0 + 3.0 / 6.0) / 4.0;
        // log2 of rank + 1: 1, 1.585, 2, 2.322, 2.585, 2.807.
        let dcg = 1.0 / 1.0 + 3.0 / 2.0 + 2.0 / 7_f64.log2();
        let best = 3.0 / 1.0 + 2.0 / 3_f64.log2() + 1.0 / 2.0 + 1.0 / 5_f64.log2();
        check(found, [average_precision, dcg / best, 0.3, 1.0, 0.75, 0.75]);
        // Plain numbers say the same, so that the lines above cannot be wrong in the way of the code.
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        assert_eq!(found.values().map(rounded), [0.5417, 0.6187, 0.3, 1.0, 0.75, 0.75]);
    }

    #[test]
    fn a_perfect_ranking_has_one_everywhere_but_in_precision() {
        let judged = judged(&[("a", 2), ("b", 1), ("worse than nothing", -1)]);
        check(Measures::of(&ranking("a b"), &judged).unwrap(), [1.0, 1.0, 0.2, 1.0, 1.0, 1.0]);
        // Equal gains in the other order are as good for all but nDCG.
        let found = Measures::of(&ranking("b a"), &judged).unwrap();
        let ndcg = (1.0 + 2.0 / 3_f64.log2()) / (2.0 + 1.0 / 3_f64.log2());
        check(found, [1.0, ndcg, 0.2, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn what_stands_behind_the_cut_counts_where_it_should() {
        let judged = judged(&[("late", 1), ("later", 1), ("last", 1)]);
        let mut docs: Vec<String> = (0..1_200).map(|n| n.to_string()).collect();
        docs[10] = "late".into();
        docs[100] = "later".into();
        docs[1_000] = "last".into();
        let average_precision = (1.0 / 11.0 + 2.0 / 101.0 + 3.0 / 1_001.0) / 3.0;
        let found = Measures::of(&docs, &judged).unwrap();
        check(found, [average_precision, 0.0, 0.0, 1.0 / 11.0, 1.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn nothing_found_is_zero_and_nothing_to_find_is_no_figure() {
        let nothing = Measures::of(&[], &judged(&[("a", 1)])).unwrap();
        check(nothing, [0.0; 6]);
        assert_eq!(Measures::of(&ranking("a"), &judged(&[("a", 0)])), None);
        assert_eq!(Measures::mean(&[]), None);
        let all = Measures::of(&ranking("a"), &judged(&[("a", 1)])).unwrap();
        check(Measures::mean(&[all, nothing]).unwrap(), [0.5, 0.5, 0.05, 0.5, 0.5, 0.5]);
    }
}
