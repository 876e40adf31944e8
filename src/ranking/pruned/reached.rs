//! Scores that enough documents reach, by the codes of the best of each list.

use crate::error::Result;
use crate::format::ranked::{Codes, KTH, RankedList, RankedLong};
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::segment::file::Section;
use crate::simd::sums::count_codes;

/// Containers of lists whose codes are counted before the best of these are found, and how often.
const CONTAINERS_COUNTED: usize = 32;
const SCORES_TRIED: usize = 10;

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
    match KTH.get(n_below).is_some_and(|kth| *kth < 2 * k) {
        true => Ok(()),
        false => raise_over(std::iter::once(std::slice::from_ref(clause)), top),
    }
}

fn long_list<'a, 's>(clause: &'a Clause<'s>) -> Option<&'a RankedLong<'s, Section<'s>>> {
    if let RankedList::Long(list) = &clause.list { Some(list) } else { None }
}

/// What the first documents of the terms of a segment together score about.
pub(crate) fn promise(clauses: &[Clause<'_>]) -> f32 {
    let first = |clause| long_list(clause).map(|list| score_of(clause, list, list.kth_codes()[0]));
    clauses.iter().filter_map(first).sum()
}

/// Raises the threshold as far as the lists of some segments say that enough documents are as good, each by one of the terms
/// alone: by their [`KTH`] best, and by the best of each block where not too many would have to be counted.
pub(crate) fn raise_over<'a, 's: 'a>(
    segments: impl Iterator<Item = &'a [Clause<'s>]> + Clone,
    top: &mut Top,
) -> Result<()> {
    let (mut low, mut high, mut n_containers) = (top.threshold(), 0.0, 0);
    for clause in segments.clone().flatten().filter(|clause| long_list(clause).is_some()) {
        high = f32::max(high, clause.best() as f32);
        n_containers += long_list(clause).map_or(0, |list| list.list().n_containers());
    }
    if high <= low {
        return Ok(());
    }
    for _ in 0..SCORES_TRIED {
        let (middle, by_blocks) = (low.midpoint(high), n_containers <= CONTAINERS_COUNTED);
        let mut n = 0;
        for clauses in segments.clone() {
            let mut each = clauses.iter().map(|clause| n_reaching(clause, middle, by_blocks));
            n += each.try_fold(0, |most, n| n.map(|n| n.max(most)))?;
        }
        if n >= top.k() { low = middle } else { high = middle }
    }
    top.raise(low);
    Ok(())
}

/// Documents that reach a score by a term alone, as far as the codes of its list tell.
fn n_reaching(clause: &Clause<'_>, score: f32, by_blocks: bool) -> Result<usize> {
    let Some(list) = long_list(clause) else { return Ok(0) };
    let near = (score / score_of(clause, list, 255) * 254.0) as u8;
    let reaches = |code: &u8| score_of(clause, list, *code) >= score;
    let Some(code) = (near..=255).find(reaches) else { return Ok(0) };
    let kth = KTH.into_iter().zip(list.kth_codes()).filter(|(_, kth)| *kth >= code);
    let n = kth.map(|(n, _)| n).max().unwrap_or(0);
    // A part with a code is more than the code before stands for.
    let Some(code) = code.checked_add(1).filter(|_| by_blocks) else { return Ok(n) };
    let mut n_blocks = 0;
    for container in list.containers().filter(|it| it.max_code >= code) {
        let (Codes::Dense(codes) | Codes::ByRank(codes)) = &list.codes(&container)?;
        n_blocks += count_codes(codes, code);
    }
    Ok(n.max(n_blocks))
}
