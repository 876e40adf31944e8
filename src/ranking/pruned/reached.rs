//! Scores that enough documents reach, by the codes of the best of each list.

use crate::error::Result;
use crate::format::ranked::{Codes, KTH, RankedList, RankedLong};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::segment::file::Section;
use crate::simd::sums::count_codes;
use smallvec::SmallVec;

/// Containers of a list whose codes are counted before the best of it are found.
const CONTAINERS_COUNTED: usize = 32;

/// Scores that as many documents of a list reach at least as [`KTH`] says; 0 where that is not known.
fn reached(clause: &Clause<'_>, list: &RankedLong<'_, Section<'_>>) -> [f32; KTH.len()] {
    list.kth_codes().map(|code| score_of(clause, list, code))
}

/// The least score of documents with a code's part.
fn score_of(clause: &Clause<'_>, list: &RankedLong<'_, Section<'_>>, code: u8) -> f32 {
    let part = f64::from(list.max_part()) * f64::from(code) / 255.0;
    let least = clause.change().map_or(part, |change| change.least(part));
    // Less what products in f32 may round away.
    (f64::from(clause.weight) * least * (1.0 - 1e-6)) as f32
}

/// Tells how good the best are at least, where every document of a list matches: from the code that as many postings have, or as
/// many blocks.
pub(super) fn raise(
    clause: &Clause<'_>,
    list: &RankedLong<'_, Section<'_>>,
    top: &mut Top,
) -> Result<()> {
    let k = top.k();
    let n_below = KTH.iter().take_while(|kth| **kth < k).count();
    if let Some(code) = list.kth_codes().get(n_below).filter(|code| **code > 0) {
        top.raise(score_of(clause, list, *code));
    }
    let is_near = KTH.get(n_below).is_some_and(|kth| *kth < 2 * k);
    let may_be_better = || clause.best() > f64::from(top.threshold());
    match is_near || list.list().n_containers() > CONTAINERS_COUNTED || !may_be_better() {
        true => Ok(()),
        false => raise_by_blocks(clause, list, n_below, top),
    }
}

/// Raises the threshold for a number of documents that is well below the next that lists have a code for, behind `n_below`.
fn raise_by_blocks(
    clause: &Clause<'_>,
    list: &RankedLong<'_, Section<'_>>,
    n_below: usize,
    top: &mut Top,
) -> Result<()> {
    let k = top.k();
    let codes = list.kth_codes();
    let code = |nth: usize| codes.get(nth).map_or(0, |code| u32::from(*code));
    // The best of a block may have one code more than is written of the k-th.
    let most = n_below.checked_sub(1).map_or(255, |nth| code(nth) + 1);
    let (mut low, mut high) = (code(n_below) + 1, most.min(255));
    while low < high {
        let middle = (low + high).div_ceil(2);
        let mut n = 0;
        for container in list.containers().filter(|it| u32::from(it.max_code) >= middle) {
            let (Codes::Dense(codes) | Codes::ByRank(codes)) = &list.codes(&container)?;
            n += count_codes(codes, middle as u8);
        }
        if n >= k { low = middle } else { high = middle - 1 }
    }
    if low > code(n_below) + 1 {
        // A part with a code is more than the code before stands for.
        top.raise(score_of(clause, list, (low - 1) as u8));
    }
    Ok(())
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
