//! Scores that were met and are not good enough any more.
//!
//! Where texts are short, there are few different scores and many documents with the best of them. There a
//! list says that its codes tell score parts apart: once the score behind a code is known, so is that of all
//! documents that have nothing but this word and this code. Of equal ones the first are wanted, so nearly all
//! can be left alone without being looked at.

use crate::format::ranked::{RankedList, RankedLong};
use crate::ids::DocId;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::segment::file::Section;

/// The scores of documents with one word, by its code.
#[derive(Debug)]
pub(super) struct TieCache {
    scores: [f32; 256],
    /// Whether codes tell scores apart.
    tells: bool,
}

/// No score is less than 0.
const UNSEEN: f32 = -1.0;

impl Default for TieCache {
    fn default() -> Self {
        TieCache { scores: [UNSEEN; 256], tells: false }
    }
}

impl TieCache {
    /// Whether a code of the list tells what a document with it scores that has no other word.
    pub(super) fn are_told(clause: &Clause<'_>) -> bool {
        // Codes were computed with other numbers where the snapshot has several segments.
        let is_same = clause.lengths.bm25() == clause.scoring.bm25;
        matches!(&clause.list, RankedList::Long(list) if is_same && list.codes_tell())
    }

    /// Forgets everything, for another list.
    pub(super) fn start(&mut self, clause: &Clause<'_>) {
        self.tells = Self::are_told(clause);
        if self.tells {
            self.scores.fill(UNSEEN);
        }
    }

    /// Whether scores that were met rule others out.
    #[inline]
    pub(super) fn tells(&self) -> bool {
        self.tells
    }

    /// Takes note of what a document with this score part scores.
    #[inline]
    pub(super) fn note(&mut self, list: &RankedLong<'_, Section<'_>>, part: f32, score: f32) {
        if self.tells {
            self.scores[usize::from(list.code_of(part))] = score;
        }
    }

    /// Whether no document from `doc` on with this code or a lower one is good enough.
    #[inline]
    pub(super) fn rules_out(&self, code: u8, doc: DocId, top: &Top) -> bool {
        let score = self.scores[usize::from(code)];
        self.tells && score >= 0.0 && !top.would_take(score, doc)
    }
}
