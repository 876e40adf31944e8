//! One required word, with words that only add to its score or must be absent.
//!
//! Documents with one of the words that add are few, or found by bounds as those of any other tree. They come
//! first. All others have the one word alone, and are found as if that were the whole query: by its codes,
//! without a sum. Only for what would be kept are the other lists looked into.

use super::lists::Tree;
use super::memory::RequiredMemory;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::ranked::RankedList;
use crate::ids::DocId;
use crate::plan::ListsKernel;
use crate::plan::in_window::looking_each_up_pays;
use crate::ranking::pruned::batch::Others;
use crate::ranking::pruned::bounds::ScoreQuantizer;
use crate::ranking::pruned::parts::Opened;
use crate::ranking::pruned::pruning::Pruning;
use crate::ranking::pruned::query::{Query, Run};
use crate::ranking::pruned::reached;
use crate::ranking::pruned::scratch::Scratch;
use crate::ranking::pruned::single_term::{ExcludedDocs, Scan};
use crate::ranking::pruned::sum::{Readers, Sum};
use crate::ranking::pruned::tie_cache::TieCache;
use crate::ranking::top::Top;
use crate::recycle::recycled;
use crate::weight::node::Node;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// Numbers of a few terms or clauses.
type Numbers = SmallVec<[usize; 4]>;

/// A sum of which one part must match. Numbers are those of clauses.
#[derive(Debug)]
pub(super) struct RequiredFirst {
    must: usize,
    should: Numbers,
    must_not: Numbers,
    /// Query in which one of those that add must match, too; none where there are none.
    pub(super) with_others: Option<Node>,
}

impl RequiredFirst {
    /// WindowPostings of `root`, if it is such a sum of words and the one that must be there is in many documents.
    pub(super) fn of(root: &Node, tree: &Tree<'_>) -> Option<Self> {
        let Node::Sum { must, should, must_not, minimum } = root else { return None };
        let terms = |nodes: &[Node]| nodes.iter().map(Node::term).collect::<Option<Numbers>>();
        let (required, should, must_not) = (terms(must)?, terms(should)?, terms(must_not)?);
        let long = |nth: &usize| {
            let clause = tree.terms[*nth]?;
            matches!(tree.clauses[clause].list, RankedList::Long(_)).then_some(clause)
        };
        let mut all_long = required.iter().filter_map(long);
        let (must, n_long) = (all_long.next()?, 1 + all_long.count());
        if ListsKernel::of_sum(required.len(), n_long, *minimum) != ListsKernel::RequiredWord {
            return None;
        }
        let clauses = |terms: &[usize]| -> Numbers {
            terms.iter().filter_map(|nth| tree.terms[*nth]).collect()
        };
        let nodes = |terms: &[usize]| terms.iter().map(|nth| Node::Term(*nth)).collect();
        Some(RequiredFirst {
            must,
            with_others: (!clauses(&should).is_empty()).then(|| Node::Sum {
                must: nodes(&required),
                should: nodes(&should),
                must_not: nodes(&must_not),
                minimum: 1,
            }),
            should: clauses(&should),
            must_not: clauses(&must_not),
        })
    }

    /// Tells how good the best are at least.
    pub(super) fn raise(&self, tree: &Tree<'_>, top: &mut Top) -> Result<()> {
        let clause = &tree.clauses[self.must];
        match &clause.list {
            RankedList::Long(list) if self.must_not.is_empty() => reached::raise(clause, list, top),
            _ => Ok(()),
        }
    }

    /// Offers the documents of the required word that can be among the best, each looked up in the others, if there are so few that bounds
    /// of blocks would leave out little; whether that is so.
    pub(super) fn offer_each(
        &self,
        tree: &Tree<'_>,
        top: &mut Top,
        scratch: &mut Scratch,
        pruning: &mut Pruning,
    ) -> Result<bool> {
        let Tree { clauses, base, .. } = tree;
        let RankedList::Long(required) = &clauses[self.must].list else { return Ok(false) };
        let Scratch { parts, opened, blocks, readers: memory, .. } = scratch;
        let is_short = |nth: &usize| matches!(clauses[*nth].list, RankedList::Short(_));
        let (n, are_rare) = (required.list().cardinality(), self.should.iter().all(is_short));
        if !looking_each_up_pays(n, are_rare, tree.n_docs, top.k()) {
            return Ok(false);
        }
        parts.take_stock(clauses, |_| false, true, top)?;
        let most = (0..clauses.len()).map(|nth| parts.best(nth)).sum();
        let Some(scale) = ScoreQuantizer::of(most, clauses.len()) else { return Ok(false) };
        let first_filter = clauses.len() - self.must_not.len();
        parts.weigh(&scale);
        parts.filter_by(first_filter);
        parts.divide(clauses, 1, 0);
        parts.keep_those_of(self.must);
        // Good ones first, so that few of the others are opened.
        parts.windows.sort_by_key(|window| Reverse(window.bound));
        pruning.windows_considered += parts.windows.len() as u64;
        let mut readers = Readers::new(memory);
        let query = Query { clauses, scale, base: *base, offered: &[], first_filter };
        let mut run = Run { query, readers: &mut readers, pruning: std::mem::take(pruning) };
        let mut of_window = recycled(std::mem::take(opened));
        blocks.common.start();
        for window in &parts.windows {
            if window.bound < scale.limit(top.threshold()) {
                run.pruning.windows_skipped += 1;
                continue;
            }
            of_window.clear();
            parts.open(clauses, window, &mut of_window)?;
            let n_documents = of_window[0].n_postings();
            budget::work(ns::WINDOW_BOUNDS * clauses.len() as u64)?;
            budget::work(ns::DOC_REQUIRED * u64::from(n_documents))?;
            let numbers: Numbers = (1..of_window.len()).collect();
            let adds = |part: &&Opened<'_, '_>| part.clause < first_filter;
            let n_optional = of_window.iter().filter(adds).count() - 1;
            let (optional, done) = numbers.split_at(n_optional);
            let lead = (0, Others { required: &[], optional, done });
            blocks.common.offer_lead(&mut run, (window.key, None), &of_window, lead, top)?;
        }
        *pruning = run.pruning;
        pruning.postings += readers.n_postings;
        *opened = recycled(of_window);
        *memory = readers.recycle();
        Ok(true)
    }

    /// Offers the documents that have one of the others, too, if these are in few documents each; whether that is
    /// so.
    pub(super) fn offer_with_few(
        &self,
        tree: &Tree<'_>,
        top: &mut Top,
        memory: &mut RequiredMemory,
        pruning: &mut Pruning,
    ) -> Result<bool> {
        let RequiredMemory { finders, postings, readers } = memory;
        postings.clear();
        for &clause in &self.should {
            let RankedList::Short(list) = &tree.clauses[clause].list else { return Ok(false) };
            let all = list.docs().iter().zip(list.frequencies());
            postings.extend(all.map(|(doc, frequency)| (*doc, clause, *frequency)));
        }
        let RankedList::Long(required) = &tree.clauses[self.must].list else { return Ok(false) };
        // In the order of the query, as scores are added up: clauses are numbered so.
        postings.sort_unstable();
        let mut walk = required.walk();
        let excluded = self.must_not.iter().map(|nth| &tree.clauses[*nth].list);
        let mut left_out = ExcludedDocs::lists(excluded, finders);
        let mut of_clauses = Readers::new(readers);
        for of_doc in postings.chunk_by(|a, b| a.0 == b.0) {
            budget::work(ns::DOC_REQUIRED * of_doc.len() as u64)?;
            let doc = of_doc[0].0;
            let Some(rank) = walk.rank(doc)? else { continue };
            let mut sum = Sum::of(doc, &mut of_clauses);
            sum.add_posting(&tree.clauses, self.must, rank)?;
            for (_, clause, frequency) in of_doc {
                sum.add_frequency(&tree.clauses, *clause, *frequency)?;
            }
            pruning.documents_scored += 1;
            let id = DocId(tree.base + u64::from(doc));
            if top.would_take(sum.score(), id) && !left_out.has(doc)? {
                top.push(sum.score(), id);
            }
        }
        left_out.recycle(finders);
        pruning.postings += of_clauses.n_postings;
        *readers = of_clauses.recycle();
        Ok(true)
    }

    /// Offers the documents that have none of the others.
    pub(super) fn offer_alone(
        &self,
        tree: &Tree<'_>,
        top: &mut Top,
        scratch: &mut Scratch,
        pruning: &mut Pruning,
    ) -> Result<()> {
        let clause = &tree.clauses[self.must];
        let RankedList::Long(list) = &clause.list else { return Ok(()) };
        let others = self.should.iter().chain(&self.must_not);
        let others = others.map(|nth| &tree.clauses[*nth].list);
        let finders = &mut scratch.tree.required.finders;
        let left_out = ExcludedDocs::lists(others, finders);
        let seen = &mut scratch.blocks.block.seen;
        TieCache::start_all(seen, std::slice::from_ref(clause));
        let mut scan = Scan::new(clause, list, tree.base, top, &mut seen[0], left_out);
        scan.offer(&mut scratch.blocks.bands.candidates, pruning)?;
        scan.left_out.recycle(finders);
        Ok(())
    }
}
