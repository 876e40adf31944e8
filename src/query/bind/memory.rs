//! Memory of queries that were bound before, for those to come.

use crate::analysis::Analyzer;
use crate::query::logical::Logical;
use crate::query::normal::Normal;
use crate::query::phrase_spec::PhraseSpec;
use crate::recycle::FreeLists;
use std::sync::Arc;

/// Phrases whose memory is kept at the most.
const PHRASES_KEPT: usize = 4;

/// Lists of parts that are free again.
#[derive(Debug, Default)]
pub(crate) struct BindMemory {
    pub(super) logical: FreeLists<Logical>,
    pub(in crate::query) normal: FreeLists<Normal>,
    /// Used again once nobody else has them.
    phrases: Vec<Arc<PhraseSpec>>,
    /// Reads the words of fields that have the default one.
    pub(in crate::query) analyzer: Option<Analyzer>,
}

impl BindMemory {
    /// Keeps the memory of a logical tree.
    pub(crate) fn give(&mut self, logical: Logical) {
        match logical {
            Logical::Sum { must, should, must_not, .. } => {
                self.give_all(must);
                self.give_all(should);
                self.give_normals(must_not);
            }
            Logical::Max { any, .. } => self.give_all(any),
            Logical::Constant { matching, .. } => self.give_normal(matching),
            Logical::Phrase { phrase, .. } => self.give_phrase(phrase),
            Logical::Term { .. }
            | Logical::Combined { .. }
            | Logical::BestTerms { .. }
            | Logical::Nearest { .. } => {}
        }
    }

    fn give_phrase(&mut self, phrase: Arc<PhraseSpec>) {
        if self.phrases.len() < PHRASES_KEPT {
            self.phrases.push(phrase);
        }
    }

    /// A phrase to be shared.
    pub(in crate::query) fn shared(&mut self, spec: PhraseSpec) -> Arc<PhraseSpec> {
        let Some(mut memory) = self.phrases.pop() else { return Arc::new(spec) };
        match Arc::get_mut(&mut memory) {
            Some(place) => *place = spec,
            None => memory = Arc::new(spec),
        }
        memory
    }

    fn give_all(&mut self, mut parts: Vec<Logical>) {
        parts.drain(..).for_each(|part| self.give(part));
        self.logical.give(parts);
    }

    /// Keeps the memory of a normal form.
    pub(crate) fn give_normal(&mut self, normal: Normal) {
        match normal {
            Normal::And { all, none } => {
                self.give_normals(all);
                self.give_normals(none);
            }
            Normal::Or(any) | Normal::AtLeast { any, .. } => self.give_normals(any),
            Normal::Phrase { phrase, .. } => self.give_phrase(phrase),
            Normal::All
            | Normal::Nothing { .. }
            | Normal::Term { .. }
            | Normal::Expand { .. }
            | Normal::Exists(_)
            | Normal::Nearest(_)
            | Normal::Area { .. } => {}
        }
    }

    fn give_normals(&mut self, mut parts: Vec<Normal>) {
        parts.drain(..).for_each(|part| self.give_normal(part));
        self.normal.give(parts);
    }

    /// A copy of a list; one without parts needs no memory.
    pub(super) fn copied(&mut self, parts: &[Normal]) -> Vec<Normal> {
        if parts.is_empty() {
            return vec![];
        }
        let mut copy = self.normal.take();
        copy.extend_from_slice(parts);
        copy
    }
}
