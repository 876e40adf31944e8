//! The 64 documents of a block, all parts of the tree on them at once.

use super::bound::{Bounds, UpperBounds, View};
use super::lists::{Tree, TreeCombined, TreeField, TreePhrase};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::ranked::{RankedList, RankedLong};
use crate::ids::DocId;
use crate::phrase::PhraseReader;
use crate::plan::WINDOW;
use crate::ranking::combined::length_in;
use crate::ranking::pruned::block_units::look_up;
use crate::ranking::pruned::parts::Postings;
use crate::ranking::pruned::pruning::Pruning;
use crate::ranking::pruned::sum::{Readers, past_the_end};
use crate::ranking::pruned::tie_cache::TieCaches;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::segment::file::Section;
use crate::simd::sums::units;
use crate::weight::node::{Node, Scores};

/// Alternatives of which a number must match that are counted exactly; scoring tells about more.
const COUNTED_MAX: usize = 8;
/// Alternatives that are put in order, to leave out those that add little.
const SORTED_MAX: usize = 64;

/// Scores blocks, one after the other.
pub(super) struct BlockScorer<'q, 's, 'm> {
    weighed: &'q UpperBounds<'q, 's>,
    phrases: &'m mut [Option<PhraseReader<'s>>],
    /// Readers of the frequencies and lengths of clauses.
    pub(super) readers: Readers<'s>,
    cells: &'m mut Vec<Cell>,
    /// Maximum that each list adds in the block at hand.
    units: &'m mut Vec<u16>,
    /// Scores of documents with one word only.
    equal: &'m mut TieCaches,
    /// Number of blocks that were looked into.
    nth: u64,
    /// K of the document that was scored last, in the field of a clause.
    k: (u32, Option<(usize, f32)>),
}

/// The memory of scoring blocks, for the next time.
#[derive(Debug, Default)]
pub(super) struct ScorerMemory {
    cells: Vec<Cell>,
    units: Vec<u16>,
    equal: TieCaches,
}

heap_bytes!(ScorerMemory { cells, units, equal });

/// Postings of a list in the block at hand.
#[derive(Clone, Debug, Default)]
struct Cell {
    /// The block that the rest is about.
    nth: u64,
    word: u64,
    /// The rank of the first posting.
    rank: u32,
}

impl<'q, 's, 'm> BlockScorer<'q, 's, 'm> {
    pub(super) fn new(
        weighed: &'q UpperBounds<'q, 's>,
        phrases: &'m mut [Option<PhraseReader<'s>>],
        readers: Readers<'s>,
        memory: &'m mut ScorerMemory,
    ) -> Self {
        let ScorerMemory { cells, units, equal } = memory;
        cells.clear();
        cells.resize(weighed.tree.clauses.len(), Cell::default());
        units.clear();
        units.resize(cells.len(), 0);
        equal.start(weighed.root, &weighed.tree.clauses);
        BlockScorer { weighed, phrases, cells, readers, units, equal, nth: 0, k: (0, None) }
    }

    /// Offers the documents of a block that match and can be among the best.
    pub(super) fn offer(
        &mut self,
        view: View<'_, 'q, 's>,
        block: usize,
        top: &mut Top,
        pruning: &mut Pruning,
    ) -> Result<()> {
        let UpperBounds { tree, root, scale, .. } = self.weighed;
        let first = view.key * WINDOW + (block * 64) as u32;
        if self.weighed.is_over(first, top) {
            return Ok(());
        }
        self.nth += 1;
        let mut limit = scale.limit(top.threshold());
        let mut here = Block { scorer: self, view, block };
        let ruled_out = here.look_up_units(DocId(tree.base + u64::from(first)), top);
        if ruled_out == Some(RuledOut::Block) {
            return Ok(());
        }
        budget::work(
            ns::BLOCK_OF_LIST * tree.clauses.len() as u64
                + ns::BLOCK_OF_PHRASE * tree.phrases.len() as u64,
        )?;
        pruning.blocks_scored += 1;
        let mut docs = here.candidates(root, limit);
        if let Some(RuledOut::Lists(lists)) = ruled_out
            && docs != 0
        {
            docs &= !here.only_in(lists);
        }
        if tree.n_docs.saturating_sub(first) < 64 {
            docs &= (1 << tree.n_docs.saturating_sub(first)) - 1;
        }
        let is_decided = is_decided(root);
        while docs != 0 {
            let bit = docs.trailing_zeros();
            docs &= docs - 1;
            let doc = first + bit;
            let mut document = Document { block: &mut here, bit, doc };
            if limit > 0 && !is_decided {
                let weighed = document.block.scorer.weighed;
                if weighed.bound(root, &mut document) < limit {
                    continue;
                }
            }
            let Some(score) = root.score(&mut document)? else { continue };
            pruning.documents_scored += 1;
            let before = top.threshold();
            top.push(score, DocId(tree.base + u64::from(doc)));
            if top.threshold() != before {
                limit = scale.limit(top.threshold());
            }
        }
        Ok(())
    }
}

/// WindowPostings that are not good enough, as [`TieCaches`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuledOut {
    /// No document of the block is.
    Block,
    /// No document is that has only one word, and that is of one of these: bits by the order of the open lists.
    Lists(u64),
}

/// Whether documents can be good enough by themselves whenever their block is, and they have what that needs:
/// beside terms that must match there is one alternative at most.
fn is_decided(root: &Node) -> bool {
    let are_terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
    match root {
        Node::Term(_) => true,
        Node::Sum { must, should, .. } => should.len() <= 1 && are_terms(must) && are_terms(should),
        Node::Phrase(_)
        | Node::Combined(_)
        | Node::Nearest { .. }
        | Node::Set { .. }
        | Node::Max { .. } => false,
    }
}

/// A block of an open window.
struct Block<'b, 'q, 's, 'm> {
    scorer: &'b mut BlockScorer<'q, 's, 'm>,
    view: View<'b, 'q, 's>,
    block: usize,
}

impl<'b, 'q, 's> Block<'b, 'q, 's, '_> {
    /// Documents of these lists that are in no other which adds to their score.
    fn only_in(&mut self, lists: u64) -> u64 {
        let (mut once, mut twice, mut of_lists) = (0, 0, 0);
        for (nth, part) in self.view.opened.iter().enumerate() {
            if !self.scorer.equal.adds(part.clause) {
                continue;
            }
            let word = self.word(part.clause);
            twice |= once & word;
            once |= word;
            if lists >> nth & 1 == 1 {
                of_lists |= word;
            }
        }
        of_lists & !twice
    }

    /// Documents that may match a part of the tree with at least `needed` units there.
    fn candidates(&mut self, node: &Node, needed: u32) -> u64 {
        let weighed = self.scorer.weighed;
        match node {
            Node::Term(nth) => match weighed.tree.terms[*nth] {
                Some(clause) if self.list(clause) >= needed => self.word(clause),
                _ => 0,
            },
            Node::Phrase(nth) => match &weighed.tree.phrases[*nth] {
                Some(phrase) if weighed.bound(node, self) >= needed => {
                    phrase.words.clone().fold(u64::MAX, |docs, clause| docs & self.word(clause))
                }
                _ => 0,
            },
            Node::Combined(nth) if weighed.bound(node, self) >= needed => self.any_word(*nth),
            Node::Combined(_) => 0,
            Node::Set { set, .. } | Node::Nearest { set, .. }
                if u32::from(weighed.units.sets[*set]) >= needed =>
            {
                self.view.word_of_set(*set, self.block)
            }
            Node::Set { .. } | Node::Nearest { .. } => 0,
            Node::Sum { must, should, must_not, minimum } => {
                let docs = self.candidates_of_sum(must, should, *minimum, needed);
                must_not.iter().fold(docs, |docs, part| match docs {
                    0 => 0,
                    docs => docs & !self.members(part),
                })
            }
            Node::Max { any, .. } if weighed.bound(node, self) >= needed => {
                any.iter().fold(0, |docs, part| docs | self.candidates(part, 0))
            }
            Node::Max { .. } => 0,
        }
    }

    fn candidates_of_sum(
        &mut self,
        must: &[Node],
        should: &[Node],
        minimum: u32,
        needed: u32,
    ) -> u64 {
        let weighed = self.scorer.weighed;
        let mut of_must = 0;
        for part in must {
            match weighed.bound(part, self) {
                0 => return 0,
                units => of_must += units,
            }
        }
        let mut of_parts = [0; SORTED_MAX];
        let mut of_should = 0;
        for (nth, part) in should.iter().enumerate() {
            let units = weighed.bound(part, self);
            of_should += units;
            if let Some(of_part) = of_parts.get_mut(nth) {
                *of_part = units;
            }
        }
        let sum = of_must + of_should;
        if sum < needed || of_should == 0 && minimum > 0 {
            return 0;
        }
        let mut docs = u64::MAX;
        for part in must {
            // The maximum of all others is missing from the score that is needed.
            let others = match must {
                [_] => of_should,
                _ => sum - weighed.bound(part, self),
            };
            docs &= self.candidates(part, needed.saturating_sub(others));
            if docs == 0 {
                return 0;
            }
        }
        if minimum > 1 {
            docs &= self.at_least(should, minimum as usize);
        }
        if minimum == 0 && of_must >= needed {
            return docs;
        }
        if of_must >= needed || should.len() > SORTED_MAX {
            return docs & should.iter().fold(0, |some, part| some | self.candidates(part, 0));
        }
        docs & self.essential(should, &mut of_parts[..should.len()], needed - of_must)
    }

    /// Documents of those parts without which no document reaches what is needed: parts that add little are left
    /// out as long as they add too little together. `units` are those of the parts.
    fn essential(&mut self, should: &[Node], units: &mut [u32], needed: u32) -> u64 {
        // Lists that add most come first: all behind one are left out together.
        let mut rest: u32 = units.iter().sum();
        let mut docs = 0;
        while rest >= needed {
            let most = units.iter().enumerate().max_by_key(|(_, units)| **units);
            let Some((nth, _)) = most.filter(|(_, units)| **units > 0) else { break };
            docs |= self.candidates(&should[nth], 0);
            rest -= std::mem::take(&mut units[nth]);
        }
        docs
    }

    /// Documents that are in `n` of the parts, perhaps with some that are in fewer.
    fn at_least(&mut self, parts: &[Node], n: usize) -> u64 {
        // By number the documents that are in so many of the parts so far.
        let mut counted = [0; COUNTED_MAX + 1];
        counted[0] = u64::MAX;
        let n = n.min(COUNTED_MAX);
        for part in parts {
            let docs = self.candidates(part, 0);
            for of in (1..=n).rev() {
                counted[of] |= counted[of - 1] & docs;
            }
        }
        counted[n]
    }

    /// Documents that match a part of the tree for certain.
    fn members(&mut self, node: &Node) -> u64 {
        match node {
            Node::Term(nth) => match self.scorer.weighed.tree.terms[*nth] {
                Some(clause) => self.word(clause),
                None => 0,
            },
            Node::Combined(nth) => self.any_word(*nth),
            Node::Set { set, .. } | Node::Nearest { set, .. } => {
                self.view.word_of_set(*set, self.block)
            }
            Node::Sum { must, should, must_not, minimum: minimum @ 0..=1 } => {
                let docs = match minimum {
                    0 => u64::MAX,
                    _ => should.iter().fold(0, |docs, part| docs | self.members(part)),
                };
                let docs = must.iter().fold(docs, |docs, part| docs & self.members(part));
                must_not.iter().fold(docs, |docs, part| docs & !self.candidates(part, 0))
            }
            // Only scoring can tell.
            Node::Phrase(_) | Node::Sum { .. } | Node::Max { .. } => 0,
        }
    }

    /// The documents that have a word in any of its fields.
    fn any_word(&mut self, combined: usize) -> u64 {
        let clauses = self.scorer.weighed.tree.combined[combined].clauses.clone();
        clauses.fold(0, |docs, clause| docs | self.word(clause))
    }

    /// The documents of a list, as bits.
    #[inline]
    fn word(&mut self, clause: usize) -> u64 {
        let cell = &self.scorer.cells[clause];
        if cell.nth == self.scorer.nth {
            return cell.word;
        }
        self.look_up_word(clause)
    }

    fn look_up_word(&mut self, clause: usize) -> u64 {
        let cell = &mut self.scorer.cells[clause];
        cell.nth = self.scorer.nth;
        cell.word = 0;
        if self.scorer.units[clause] > 0
            && let Some(part) = self.view.list(clause)
        {
            (cell.word, cell.rank, _) = look_up(part, self.block);
        }
        cell.word
    }

    /// Finds out what each list adds at most, and looks those up that have no code for the block. Says what can
    /// be left out because equally good documents are kept; `first` is the block's first document.
    fn look_up_units(&mut self, first: DocId, top: &Top) -> Option<RuledOut> {
        let BlockScorer { cells, units: of_clauses, equal, nth: nth_block, .. } = &mut *self.scorer;
        of_clauses.fill(0);
        let is_possible = equal.is_possible() && self.view.opened.len() <= u64::BITS as usize;
        let (mut n_present, mut lists) = (0, 0u64);
        for (nth, part) in self.view.opened.iter().enumerate() {
            let Some(codes) = self.view.codes(nth) else {
                let cell = &mut cells[part.clause];
                cell.nth = *nth_block;
                (cell.word, cell.rank, of_clauses[part.clause]) = look_up(part, self.block);
                n_present += u32::from(cell.word != 0 && equal.adds(part.clause));
                continue;
            };
            let code = codes[self.block];
            if code > 0 {
                of_clauses[part.clause] = units(code, part.weight);
                if is_possible && equal.adds(part.clause) {
                    n_present += 1;
                    let is_out = equal.rules_out(part.clause, code, first, top);
                    lists |= u64::from(is_out) << nth;
                }
            }
        }
        match (lists, n_present) {
            (0, _) => None,
            (_, 1) => Some(RuledOut::Block),
            _ => Some(RuledOut::Lists(lists)),
        }
    }
}

impl Bounds for Block<'_, '_, '_, '_> {
    fn list(&mut self, clause: usize) -> u32 {
        self.scorer.units[clause].into()
    }

    fn set(&mut self, set: usize) -> u32 {
        match self.view.word_of_set(set, self.block) {
            0 => 0,
            _ => self.scorer.weighed.units.sets[set].into(),
        }
    }
}

/// A document of a block.
struct Document<'a, 'b, 'q, 's, 'm> {
    block: &'a mut Block<'b, 'q, 's, 'm>,
    bit: u32,
    doc: u32,
}

impl Bounds for Document<'_, '_, '_, '_, '_> {
    fn list(&mut self, clause: usize) -> u32 {
        match self.block.word(clause) >> self.bit & 1 {
            0 => 0,
            _ => self.block.scorer.units[clause].into(),
        }
    }

    fn set(&mut self, set: usize) -> u32 {
        if self.is_in(set) { self.block.scorer.weighed.units.sets[set].into() } else { 0 }
    }
}

impl Scores for Document<'_, '_, '_, '_, '_> {
    fn term(&mut self, nth: usize) -> Result<Option<f32>> {
        let tree = self.block.scorer.weighed.tree;
        let Some(clause) = tree.terms[nth] else { return Ok(None) };
        let word = self.block.word(clause);
        if word >> self.bit & 1 == 0 {
            return Ok(None);
        }
        let before = (word & ((1 << self.bit) - 1)).count_ones();
        let rank = self.block.scorer.cells[clause].rank + before;
        match self.block.view.list(clause).map(|part| &part.postings) {
            Some(Postings::Short { scores, .. }) => {
                self.block.scorer.readers.n_postings += 1;
                Ok(scores.get(rank as usize).copied())
            }
            Some(Postings::Long(_, list)) => {
                let list = *list;
                self.score_posting(clause, list, rank).map(Some)
            }
            None => Ok(None),
        }
    }

    fn phrase(&mut self, nth: usize) -> Result<Option<f32>> {
        let scorer = &mut *self.block.scorer;
        let Some(TreePhrase { clause, .. }) = &scorer.weighed.tree.phrases[nth] else {
            return Ok(None);
        };
        let Some(reader) = &mut scorer.phrases[nth] else { return Ok(None) };
        match reader.frequency(self.doc)? {
            0 => Ok(None),
            frequency => clause.score(self.doc, frequency).map(Some),
        }
    }

    fn combined(&mut self, nth: usize) -> Result<Option<f32>> {
        let Tree { combined, n_docs, .. } = self.block.scorer.weighed.tree;
        let TreeCombined { fields, word, .. } = &combined[nth];
        if self.doc >= *n_docs {
            return Err(past_the_end());
        }
        let of_fields = fields.iter().map(|TreeField { clause, lengths }| {
            let frequency = match clause {
                Some(clause) => self.frequency(*clause)?,
                None => 0,
            };
            Ok((frequency, length_in(lengths.as_ref(), self.doc)?))
        });
        let sum = word.sum(of_fields)?;
        Ok(sum.map(|sum| word.weight * word.part(&sum)))
    }

    fn nearest(&mut self, nth: usize) -> Option<f32> {
        self.block.scorer.weighed.tree.neighbors[nth].score(self.doc)
    }

    fn is_in(&mut self, set: usize) -> bool {
        self.block.view.word_of_set(set, self.block.block) >> self.bit & 1 == 1
    }
}

impl<'s> Document<'_, '_, '_, 's, '_> {
    /// Number of times that the word of a list is in the document; 0 if it is not there.
    fn frequency(&mut self, clause: usize) -> Result<u32> {
        let word = self.block.word(clause);
        if word >> self.bit & 1 == 0 {
            return Ok(0);
        }
        let scorer = &mut *self.block.scorer;
        scorer.readers.n_postings += 1;
        match &scorer.weighed.tree.clauses[clause].list {
            RankedList::Short(list) => {
                let at = list.docs().binary_search(&self.doc).ok();
                Ok(at.and_then(|at| list.frequencies().get(at).copied()).unwrap_or_default())
            }
            RankedList::Long(list) => {
                let before = (word & ((1 << self.bit) - 1)).count_ones();
                scorer.readers.frequency(clause, list, scorer.cells[clause].rank + before)
            }
        }
    }

    /// Score of the posting of this rank in a long list.
    fn score_posting(
        &mut self,
        clause: usize,
        list: &RankedLong<'s, Section<'s>>,
        rank: u32,
    ) -> Result<f32> {
        let scorer = &mut *self.block.scorer;
        if scorer.k.0 != self.doc {
            scorer.k = (self.doc, None);
        }
        let frequency = scorer.readers.frequency(clause, list, rank)?;
        let (clauses, posting) = (&scorer.weighed.tree.clauses, (self.doc, frequency));
        let (part, score) = scorer.readers.score(clauses, clause, posting, &mut scorer.k.1)?;
        scorer.equal.note(clause, list, part, score);
        Ok(score)
    }
}
