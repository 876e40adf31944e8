//! Scores that as many documents reach as are wanted, by the codes of the best of each list.

use crate::format::ranked::{KTH, RankedList, RankedLong};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::segment::file::Section;
use smallvec::SmallVec;

/// Scores that as many documents of a list reach at least as [`KTH`] says; 0 where that is not known.
fn reached(clause: &Clause<'_>, list: &RankedLong<'_, Section<'_>>) -> [f32; KTH.len()] {
    let change = clause.change();
    list.kth_codes().map(|code| {
        let part = f64::from(list.max_part()) * f64::from(code) / 255.0;
        let least = change.as_ref().map_or(part, |change| change.least(part));
        // Less what products in f32 may round away.
        (f64::from(clause.weight) * least * (1.0 - 1e-6)) as f32
    })
}

/// Tells how good the best are at least, where every document of a list matches: from the code that as many postings have.
pub(super) fn raise(clause: &Clause<'_>, list: &RankedLong<'_, Section<'_>>, top: &mut Top) {
    let k = top.k();
    let kth = KTH.iter().zip(reached(clause, list)).find(|(kth, _)| k <= **kth);
    if let Some((_, score)) = kth.filter(|(_, score)| *score > 0.0) {
        top.raise(score);
    }
}

/// Scores that documents of several segments reach, each by one term alone.
#[derive(Debug, Default)]
pub(crate) struct BestReached {
    /// Score, and so many documents of a segment that reach it beside those that reach more.
    scores: SmallVec<[(f32, usize); 64]>,
}

impl BestReached {
    /// Adds the lists of one segment. Returns what the first documents of its terms together score about.
    pub(crate) fn add(&mut self, clauses: &[Clause<'_>]) -> f32 {
        let (mut best, mut together) = ([0.0f32; KTH.len()], 0.0);
        for clause in clauses {
            if let RankedList::Long(list) = &clause.list {
                let scores = reached(clause, list);
                together += scores.first().copied().unwrap_or_default();
                best.iter_mut().zip(scores).for_each(|(best, score)| *best = best.max(score));
            }
        }
        let mut before = 0;
        for (n, score) in KTH.into_iter().zip(best).filter(|(_, score)| *score > 0.0) {
            self.scores.push((score, n - before));
            before = n;
        }
        together
    }

    /// A score that `k` documents reach, where that is known.
    pub(crate) fn by(&mut self, k: usize) -> Option<f32> {
        self.scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut n = 0;
        let reaches = |(_, more): &&(f32, usize)| {
            n += more;
            n >= k
        };
        self.scores.iter().find(reaches).map(|(score, _)| *score)
    }
}
