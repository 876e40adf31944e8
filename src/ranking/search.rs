//! The best of what matches, by scoring all of it.

use super::prepared::{Ranked, Shape};
use super::pruned::{self, PhrasePruning, Pruning};
use super::top::{Scored, Top};
use crate::error::Result;
use crate::execution::MatchSet;
use crate::ids::DocId;
use crate::plan::SegmentPlan;
use crate::recycle::recycled;

/// Scores every document of `matches`, by segment, and offers to `top` what matches the whole query; how many do.
pub(crate) fn score_all(
    ranked: &Ranked<'_>,
    segments: &[SegmentPlan<'_>],
    matches: &[MatchSet],
    top: &mut Top,
) -> Result<u64> {
    let mut n_matching = 0;
    for (at, (segment, matches)) in segments.iter().zip(matches).enumerate() {
        let (ranked, nth) = ranked.of_segment(at);
        let mut scorer = ranked.segment(nth)?;
        let mut offer = |doc: u32| -> Result<()> {
            if let Some(score) = scorer.score(doc)? {
                n_matching += 1;
                top.push(score, DocId(segment.base + u64::from(doc)));
            }
            Ok(())
        };
        match matches {
            MatchSet::Everything => (0..segment.n_docs).try_for_each(offer)?,
            MatchSet::Some(windows) => {
                for window in windows.windows() {
                    let high = window.key << 16;
                    let mut lows = windows.documents(window).iter();
                    lows.try_for_each(|low| offer(high | u32::from(low)))?;
                }
            }
        }
    }
    Ok(n_matching)
}

/// Offers to `top` all documents that can be among its best. `count` says that their number is wanted, which
/// is then found on the way where that costs little.
pub(crate) fn find_best(
    ranked: &Ranked<'_>,
    shape: Shape,
    count: bool,
    top: &mut Top,
    scratch: &mut pruned::Scratch,
) -> Result<Pruning> {
    let mut pruning = Pruning::NOTHING;
    let mut base = 0;
    for (at, segment) in ranked.segments().iter().enumerate() {
        let (own, at) = ranked.of_segment(at);
        let shape = if std::ptr::eq(own, ranked) { shape } else { own.shape() };
        let ranked = own;
        pruning += match shape {
            Shape::AnyOf | Shape::AllOf => {
                let clauses = ranked.clauses(at, recycled(std::mem::take(&mut scratch.clauses)))?;
                let pruning = match shape {
                    Shape::AnyOf => pruned::any_of(&clauses, base, top, scratch)?,
                    // A term that the segment does not have is in no document with all of them.
                    _ if clauses.len() < ranked.n_terms() => Pruning::NOTHING,
                    _ => pruned::all_of(&clauses, count, base, top, scratch)?,
                };
                scratch.clauses = recycled(clauses);
                pruning
            }
            Shape::Constant | Shape::Phrase | Shape::Tree => {
                let (tree, mut readers) = ranked.tree(at, base)?;
                pruned::tree::offer(&tree, &mut readers, top, scratch)?
            }
        };
        base += u64::from(segment.n_docs());
    }
    Ok(pruning)
}

/// Offers to `top` all documents that can be among its best, for a query that is a phrase; with `count` finds
/// every document that has it.
pub(crate) fn find_best_of_phrase(
    ranked: &Ranked<'_>,
    count: bool,
    top: &mut Top,
    scratch: &mut pruned::Scratch,
) -> Result<PhrasePruning> {
    let mut pruning = PhrasePruning::default();
    let mut base = 0;
    for (at, segment) in ranked.segments().iter().enumerate() {
        let (ranked, at) = ranked.of_segment(at);
        let scratch = &mut scratch.phrase;
        pruning += match ranked.phrase_clause(at, &mut scratch.rare)? {
            None => PhrasePruning::default(),
            Some((clause, None)) => pruned::rare_phrase(&clause, &scratch.rare, base, top)?,
            Some((clause, Some(mut words))) => {
                pruned::phrase(&clause, &mut words, base, count, top, scratch)?
            }
        };
        base += u64::from(segment.n_docs());
    }
    Ok(pruning)
}

/// What comes after a page: worse than its last hit.
pub(crate) fn after(score: f32, doc: DocId) -> Scored {
    Scored::new(score, doc)
}
