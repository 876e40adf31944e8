//! The best of what matches, by scoring all of it.

use super::Clause;
use super::pruned::tree::OpenTree;
use super::pruned::{self, PhraseClause, PhrasePruning, Pruning, Roles};
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
    mut open: Option<&mut OpenLists<'_>>,
    count: bool,
    top: &mut Top,
    scratch: &mut pruned::Scratch,
) -> Result<Pruning> {
    let mut pruning = Pruning::nothing();
    loop {
        let count = count && !pruning.searched_twice;
        for (nth, (segment, base)) in ranked.bases().enumerate() {
            let (own, at) = ranked.of_segment(nth);
            top.enter(segment, base);
            let of_segment = match &mut open {
                Some(lists) => lists.0[nth].offer((own, at), base, count, top, scratch)?,
                None => {
                    let shape = shape.unwrap_or_else(|| own.shape());
                    let mut query = OpenQuery::of(own, shape, at, base, scratch)?;
                    let found = query.offer((own, at), base, count, top, scratch)?;
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
            return Ok(pruning);
        }
        let kernels = KernelCounts::default();
        pruning = Pruning { matching: None, searched_twice: true, kernels, ..pruning };
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
            Some(lists) => match &mut lists.0[nth] {
                OpenQuery::Phrase(Some(open)) => {
                    pruned::phrase(&open.0, &mut open.1, base, count, top, scratch)?
                }
                _ => PhrasePruning::default(),
            },
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
pub(crate) struct OpenLists<'s>(Vec<OpenQuery<'s>>);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "made once a segment; a box would be an allocation")]
enum OpenQuery<'s> {
    /// Terms of which one must match, and what they do beside.
    AnyOf(Vec<Clause<'s>>, Roles),
    AllOf(Vec<Clause<'s>>),
    Tree(OpenTree<'s>),
    /// None where no document has it.
    Phrase(Option<Box<(PhraseClause<'s>, PhraseReader<'s>)>>),
}

impl<'s> OpenQuery<'s> {
    /// Opens the lists of a query in a segment whose first document has the number `base`.
    fn of(
        ranked: &Weight<'s>,
        shape: Shape,
        at: usize,
        base: u64,
        scratch: &mut pruned::Scratch,
    ) -> Result<Self> {
        let memory = recycled(std::mem::take(&mut scratch.clauses));
        let numbers = &mut scratch.numbers;
        Ok(match shape {
            Shape::AnyOf => {
                let clauses = ranked.clauses(at, memory, numbers)?;
                let roles = Roles::none(clauses.len());
                OpenQuery::AnyOf(clauses, roles)
            }
            Shape::AllOf => OpenQuery::AllOf(ranked.clauses(at, memory, numbers)?),
            Shape::Constant | Shape::Phrase | Shape::Tree => {
                let (clauses, roles) = ranked.clauses_with_roles(at, memory, numbers)?;
                if let Some(roles) = roles {
                    return Ok(OpenQuery::AnyOf(clauses, roles));
                }
                OpenQuery::Tree(ranked.tree(at, base, clauses, std::mem::take(numbers))?)
            }
        })
    }

    /// Offers to `top` all documents that can be among its best.
    fn offer(
        &mut self,
        (ranked, at): (&Weight<'_>, usize),
        base: u64,
        count: bool,
        top: &mut Top,
        scratch: &mut pruned::Scratch,
    ) -> Result<Pruning> {
        let found = match self {
            // A term that the segment does not have is in no document with all of them.
            OpenQuery::AllOf(clauses) if clauses.len() < ranked.terms.len() => {
                Some(Pruning::nothing())
            }
            OpenQuery::AnyOf(clauses, _) if clauses.is_empty() => Some(Pruning::nothing()),
            OpenQuery::AllOf(clauses) => {
                let count = count && !top.leaves_out();
                pruned::find::<true>(
                    clauses,
                    Roles::none(clauses.len()),
                    count,
                    base,
                    top,
                    scratch,
                )?
            }
            OpenQuery::AnyOf(clauses, roles) => {
                pruned::find::<false>(clauses, *roles, false, base, top, scratch)?
            }
            OpenQuery::Tree(tree) => Some(tree.offer(&ranked.root, top, scratch)?),
            // A phrase is found by its own way.
            OpenQuery::Phrase(_) => Some(Pruning::nothing()),
        };
        match found {
            Some(pruning) => Ok(pruning),
            None => {
                let mut tree = ranked.tree(at, base, vec![], FreeLists::default())?;
                tree.offer(&ranked.root, top, scratch)
            }
        }
    }

    /// Keeps the memory for the next query.
    fn recycle(self, scratch: &mut pruned::Scratch) {
        match self {
            OpenQuery::AnyOf(clauses, _) | OpenQuery::AllOf(clauses) => {
                scratch.keep_clauses(clauses);
            }
            OpenQuery::Tree(tree) => tree.recycle(scratch),
            OpenQuery::Phrase(_) => {}
        }
    }
}

impl<'s> OpenLists<'s> {
    /// Opens the lists of a query.
    pub(crate) fn of(ranked: &Weight<'s>) -> Result<Self> {
        let of_segment = |(nth, (_, base))| {
            let (own, at) = ranked.of_segment(nth);
            Ok(match own.root {
                Node::Phrase(nth) => {
                    OpenQuery::Phrase(own.open_words(&own.phrases[nth], at)?.map(Box::new))
                }
                // Nothing is used again of what stays open.
                _ => OpenQuery::of(own, own.shape(), at, base, &mut pruned::Scratch::default())?,
            })
        };
        ranked.bases().enumerate().map(of_segment).collect::<Result<_>>().map(OpenLists)
    }
}
