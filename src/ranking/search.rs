//! The best of what matches, by scoring all of it.

use super::Clause;
use super::pruned::tree::OpenTree;
use super::pruned::{self, BestReached, PhraseClause, PhrasePruning, Pruning};
use super::top::Top;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::column::BLOCK_DOCS;
use crate::ids::DocId;
use crate::matching::for_each_block_of;
use crate::phrase::PhraseReader;
use crate::plan::{KernelCounts, Scoring, SegmentPlan, Shape};
use crate::recycle::{FreeLists, recycled};
use crate::weight::Weight;
use crate::weight::node::Node;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// Scores every document of `matches`, by segment, and offers to `top` what matches the whole query; how many do.
pub(crate) fn score_all(
    ranked: &Weight<'_>,
    segments: &[SegmentPlan<'_>],
    matches: &[DocIdSet],
    top: &mut Top,
) -> Result<u64> {
    let mut n_matching = 0;
    for (at, (segment, matches)) in segments.iter().zip(matches).enumerate() {
        top.enter(segment.segment, segment.base);
        let (ranked, nth) = ranked.of_segment(at);
        let mut scorer = ranked.segment(nth)?;
        let mut offer = |doc: u32| -> Result<()> {
            if let Some(score) = scorer.score(doc)? {
                n_matching += 1;
                top.push(score, DocId(segment.base + u64::from(doc)));
            }
            Ok(())
        };
        for_each_block_of(matches, segment.n_docs, |nth, places| {
            budget::work(ns::DOC_SCORED * u64::from(places.len()))?;
            places.try_for_each(|place| offer(nth * BLOCK_DOCS + place))
        })?;
    }
    Ok(n_matching)
}

/// Offers to `top` all documents that can be among its best, by the lists of the query where these are open already. A query may be
/// taken for one of another shape. `count` says that their number is wanted, which is then found on the way where that costs little.
pub(crate) fn find_best(
    ranked: &Weight<'_>,
    shape: Option<Shape>,
    open: Option<&mut OpenLists<'_>>,
    count: bool,
    top: &mut Top,
    scratch: &mut pruned::Scratch,
) -> Result<Pruning> {
    let mut pruning = Pruning::nothing();
    let shape = shape.unwrap_or_else(|| ranked.shape());
    let mut own = None;
    // Lists of terms are opened in all segments first: together they tell where the best are, and how good.
    let (flat, mut each) = match open {
        Some(OpenLists::Flat(clauses)) => (Some(&*clauses), None),
        Some(OpenLists::Each(queries)) => (None, Some(queries)),
        None if matches!(shape, Shape::AnyOf | Shape::AllOf) => {
            (Some(&*own.insert(SegmentClauses::of(ranked, scratch)?)), None)
        }
        None => (None, None),
    };
    loop {
        let count = count && !pruning.searched_twice;
        let order = flat
            .filter(|_| ranked.segments.len() > 1)
            .map(|clauses| clauses.raise(shape, ranked, top));
        for nth in 0..ranked.segments.len() {
            let nth = order.as_ref().map_or(nth, |order| order[nth]);
            let (segment, base) = (ranked.segments[nth], ranked.base(nth));
            let (own, at) = ranked.of_segment(nth);
            top.enter(segment, base);
            let of_segment = match (flat, &mut each) {
                (Some(clauses), _) => {
                    let clauses = clauses.of_segment(nth);
                    let clauses = (shape, clauses, clauses.len());
                    offer_clauses(clauses, (own, at), base, count, top, scratch)?
                }
                (None, Some(open)) => open[nth].offer((own, at), base, top, scratch)?,
                (None, None) => {
                    let mut query = OpenQuery::of(own, at, base, scratch)?;
                    let found = query.offer((own, at), base, top, scratch)?;
                    query.recycle(scratch);
                    found
                }
            };
            // The number of matches came to light only if none is deleted.
            let matching = of_segment.matching.filter(|n| *n == 0 || !top.leaves_out());
            pruning += Pruning { matching, ..of_segment };
        }
        // Once more where thresholds that deleted documents had a part in turned out to be too high.
        if !top.begins_again() {
            own.into_iter().for_each(|own| scratch.keep_clauses(own.clauses));
            return Ok(pruning);
        }
        let kernels = KernelCounts::default();
        pruning = Pruning { matching: None, searched_twice: true, kernels, ..pruning };
    }
}

/// The terms of a query that is nothing else, open in all segments.
#[derive(Debug)]
pub(crate) struct SegmentClauses<'s> {
    clauses: Vec<Clause<'s>>,
    /// End of those of each segment.
    ends: SmallVec<[usize; 12]>,
}

impl<'s> SegmentClauses<'s> {
    fn of(ranked: &Weight<'s>, scratch: &mut pruned::Scratch) -> Result<Self> {
        let mut clauses = recycled(std::mem::take(&mut scratch.clauses));
        let mut ends = SmallVec::new();
        for nth in 0..ranked.segments.len() {
            let (own, at) = ranked.of_segment(nth);
            own.clauses(at, &mut clauses, &mut scratch.numbers)?;
            ends.push(clauses.len());
        }
        Ok(SegmentClauses { clauses, ends })
    }

    fn of_segment(&self, nth: usize) -> &[Clause<'s>] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.clauses[start..self.ends[nth]]
    }

    /// The order in which segments are gone through: those first whose lists say that their best are good. Tells `top` how good
    /// the best of all segments are at least, where any term suffices.
    fn raise(&self, shape: Shape, ranked: &Weight<'_>, top: &mut Top) -> SmallVec<[usize; 32]> {
        let (mut reached, of_all) = (BestReached::default(), 0..ranked.segments.len());
        let mut promised = |nth| (Reverse(reached.add(self.of_segment(nth)).to_bits()), nth);
        let mut promises: SmallVec<[_; 32]> = of_all.map(&mut promised).collect();
        // More are asked for where documents of a segment are deleted.
        let most = ranked.bases().max_by_key(|(segment, base)| {
            top.enter(*segment, *base);
            top.k()
        });
        if let (Shape::AnyOf, Some((segment, base))) = (shape, most) {
            top.enter(segment, base);
            reached.by(top.k()).into_iter().for_each(|score| top.raise(score));
        }
        promises.sort_unstable();
        promises.into_iter().map(|(_, nth)| nth).collect()
    }
}

/// Offers to `top` all documents that can be among its best, for a query that is a phrase, whose words may be open already; with
/// `count` finds every document that has it. Here every threshold is one of documents that were kept, so none is too high.
pub(crate) fn find_best_of_phrase(
    ranked: &Weight<'_>,
    mut open: Option<&mut OpenLists<'_>>,
    count: bool,
    top: &mut Top,
    scratch: &mut pruned::Scratch,
) -> Result<PhrasePruning> {
    let mut pruning = PhrasePruning::default();
    let scratch = &mut scratch.phrase;
    for (nth, (segment, base)) in ranked.bases().enumerate() {
        let (own, at) = ranked.of_segment(nth);
        top.enter(segment, base);
        pruning += match &mut open {
            Some(OpenLists::Each(queries)) => match &mut queries[nth] {
                OpenQuery::Phrase(Some(open)) => {
                    pruned::phrase(&open.0, &mut open.1, base, count, top, scratch)?
                }
                _ => PhrasePruning::default(),
            },
            Some(OpenLists::Flat(_)) => PhrasePruning::default(),
            None => match own.phrase_clause(at, &mut scratch.workspace)? {
                None => PhrasePruning::default(),
                Some((clause, None)) => {
                    pruned::rare_phrase(&clause, &scratch.workspace.rare, base, top)?
                }
                Some((clause, Some(mut words))) => {
                    let found = pruned::phrase(&clause, &mut words, base, count, top, scratch)?;
                    words.recycle(&mut scratch.workspace.words);
                    found
                }
            },
        };
    }
    Ok(pruning)
}

/// The lists of a query, open in every segment, to be searched any number of times.
#[derive(Debug)]
pub(crate) enum OpenLists<'s> {
    Flat(SegmentClauses<'s>),
    Each(Vec<OpenQuery<'s>>),
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "made once a segment; a box would be an allocation")]
pub(crate) enum OpenQuery<'s> {
    /// Terms of which one must match, and from this one on terms that only filter.
    Filtered(Vec<Clause<'s>>, usize),
    Tree(OpenTree<'s>),
    /// None where no document has it.
    Phrase(Option<Box<(PhraseClause<'s>, PhraseReader<'s>)>>),
}

impl<'s> OpenQuery<'s> {
    /// Opens the lists of a query that is more than terms in a segment whose first document has the number `base`.
    fn of(
        ranked: &Weight<'s>,
        at: usize,
        base: u64,
        scratch: &mut pruned::Scratch,
    ) -> Result<Self> {
        let memory = recycled(std::mem::take(&mut scratch.clauses));
        let numbers = &mut scratch.numbers;
        let (clauses, first_filter) = ranked.filtered_clauses(at, memory, numbers)?;
        Ok(match first_filter {
            Some(first_filter) => OpenQuery::Filtered(clauses, first_filter),
            None => OpenQuery::Tree(ranked.tree(at, base, clauses, std::mem::take(numbers))?),
        })
    }

    /// Offers to `top` all documents that can be among its best.
    fn offer(
        &mut self,
        of_segment: (&Weight<'_>, usize),
        base: u64,
        top: &mut Top,
        scratch: &mut pruned::Scratch,
    ) -> Result<Pruning> {
        match self {
            OpenQuery::Filtered(clauses, first_filter) => {
                let clauses = (Shape::AnyOf, &clauses[..], *first_filter);
                offer_clauses(clauses, of_segment, base, false, top, scratch)
            }
            OpenQuery::Tree(tree) => tree.offer(&of_segment.0.root, top, scratch),
            // A phrase is found by its own way.
            OpenQuery::Phrase(_) => Ok(Pruning::nothing()),
        }
    }

    /// Keeps the memory for the next query.
    fn recycle(self, scratch: &mut pruned::Scratch) {
        match self {
            OpenQuery::Filtered(clauses, _) => scratch.keep_clauses(clauses),
            OpenQuery::Tree(tree) => tree.recycle(scratch),
            OpenQuery::Phrase(_) => {}
        }
    }
}

/// Offers to `top` all documents that can be among its best of terms in a segment, some of which may do more than add to scores.
fn offer_clauses(
    (shape, clauses, first_filter): (Shape, &[Clause<'_>], usize),
    (ranked, at): (&Weight<'_>, usize),
    base: u64,
    count: bool,
    top: &mut Top,
    scratch: &mut pruned::Scratch,
) -> Result<Pruning> {
    let count = count && !top.leaves_out();
    let found = match shape {
        // A term that the segment does not have is in no document with all of them.
        Shape::AllOf if clauses.len() < ranked.terms.len() => Some(Pruning::nothing()),
        _ if clauses.is_empty() => Some(Pruning::nothing()),
        Shape::AllOf => pruned::find::<true>(clauses, first_filter, count, base, top, scratch)?,
        _ => pruned::find::<false>(clauses, first_filter, count, base, top, scratch)?,
    };
    match found {
        Some(pruning) => Ok(pruning),
        None => {
            let mut tree = ranked.tree(at, base, vec![], FreeLists::default())?;
            tree.offer(&ranked.root, top, scratch)
        }
    }
}

impl<'s> OpenLists<'s> {
    /// Opens the lists of a query.
    pub(crate) fn of(ranked: &Weight<'s>) -> Result<Self> {
        // Nothing is used again of what stays open.
        let scratch = &mut pruned::Scratch::default();
        if matches!(ranked.shape(), Shape::AnyOf | Shape::AllOf) {
            return SegmentClauses::of(ranked, scratch).map(OpenLists::Flat);
        }
        let of_segment = |(nth, (_, base))| {
            let (own, at) = ranked.of_segment(nth);
            Ok(match own.root {
                Node::Phrase(nth) => {
                    OpenQuery::Phrase(own.open_words(&own.phrases[nth], at)?.map(Box::new))
                }
                _ => OpenQuery::of(own, at, base, scratch)?,
            })
        };
        ranked.bases().enumerate().map(of_segment).collect::<Result<_>>().map(OpenLists::Each)
    }
}
