//! Scores that enough documents reach, by the codes of the best of each list.

use crate::error::Result;
use crate::format::ranked::{Codes, KTH, RankedList, RankedLong};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::segment::file::Section;
use crate::simd::sums::count_codes;
use smallvec::SmallVec;

/// Containers of lists whose codes are counted before the best of these are found, and how often.
const CONTAINERS_COUNTED: usize = 32;
const SCORES_TRIED: usize = 8;

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
    if is_near {
        Ok(())
    } else {
        raise_by_blocks(std::iter::once(std::slice::from_ref(clause)), top)
    }
}

/// Raises the threshold as far as the best of the blocks of some segments' lists say that there are enough as good, each by one of
/// the terms alone; nothing where lists are so long that counting takes longer than what it saves.
pub(crate) fn raise_by_blocks<'a, 's: 'a>(
    segments: impl Iterator<Item = &'a [Clause<'s>]> + Clone,
    top: &mut Top,
) -> Result<()> {
    let lists = segments.clone().flatten().filter_map(|clause| match &clause.list {
        RankedList::Long(list) => Some((clause.best() as f32, list.list().n_containers())),
        RankedList::Short(_) => None,
    });
    let add = |(best, n): (f32, usize), (own, more)| (best.max(own), n + more);
    let (best, n_containers) = lists.fold((0.0, 0), add);
    let (mut low, mut high) = (top.threshold(), best);
    if high <= low || n_containers > CONTAINERS_COUNTED {
        return Ok(());
    }
    for _ in 0..SCORES_TRIED {
        let middle = low.midpoint(high);
        let mut n = 0;
        for clauses in segments.clone() {
            let mut most = 0;
            for clause in clauses {
                most = most.max(n_reaching(clause, middle)?);
            }
            n += most;
        }
        if n >= top.k() { low = middle } else { high = middle }
    }
    top.raise(low);
    Ok(())
}

/// Blocks whose best document reaches a score by a term alone, as far as their codes tell.
fn n_reaching(clause: &Clause<'_>, score: f32) -> Result<usize> {
    let RankedList::Long(list) = &clause.list else { return Ok(0) };
    // A part with a code is more than the code before stands for.
    let most = score_of(clause, list, 254);
    let mut before = (score / most * 254.0) as u8;
    while before < 255 && score_of(clause, list, before) < score {
        before += 1;
    }
    let Some(code) = before.checked_add(1) else { return Ok(0) };
    let mut n = 0;
    for container in list.containers().filter(|it| it.max_code >= code) {
        let (Codes::Dense(codes) | Codes::ByRank(codes)) = &list.codes(&container)?;
        n += count_codes(codes, code);
    }
    Ok(n)
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
