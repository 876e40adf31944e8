//! CRoaring on the posting lists of the words: the floor of COUNT, not an engine. Bitmaps are ready
//! in memory, there is no dictionary, no parser, no plan.

use std::{collections::HashMap, path::Path};

use croaring::Bitmap;
use tantivy::{DocSet, TERMINATED, Term, schema::IndexRecordOption};

use super::{
    engine::{Engine, Top},
    questions::{Class, Question, Sign},
    tantivy_engine::open_searcher,
};
use crate::Result;

pub(crate) const NAME: &str = "CRoaring";

/// The documents of every word.
pub(crate) struct Floor {
    lists: HashMap<String, Bitmap>,
}

impl Floor {
    /// Reads the lists of all questions from tantivy's index.
    pub(crate) fn open(tantivy: &Path, questions: &[Question]) -> Result<Self> {
        let (_index, searcher, text) = open_searcher(tantivy)?;
        let inverted = searcher.segment_reader(0).inverted_index(text)?;
        let mut lists = HashMap::new();
        for word in questions.iter().filter(|asked| is_set(asked.class)).flat_map(|q| &q.words) {
            if lists.contains_key(word) {
                continue;
            }
            let mut list = Bitmap::new();
            let term = Term::from_field_text(text, word);
            if let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? {
                while postings.doc() != TERMINATED {
                    list.add(postings.doc());
                    postings.advance();
                }
            }
            list.run_optimize();
            list.shrink_to_fit();
            lists.insert(word.clone(), list);
        }
        Ok(Floor { lists })
    }

    fn of(&self, question: &Question, sign: Sign) -> Vec<&Bitmap> {
        let signed = question.words.iter().zip(&question.signs);
        signed.filter(|(_, found)| **found == sign).map(|(word, _)| &self.lists[word]).collect()
    }
}

/// Classes that set operations answer.
fn is_set(class: Class) -> bool {
    use Class::{FilterOr2, Fuzzy, Fuzzy2, Phrase2, Phrase3, Prefix};
    !matches!(class, Phrase2 | Phrase3 | Prefix | Fuzzy | Fuzzy2 | FilterOr2)
}

impl Engine for Floor {
    fn count(&mut self, question: &Question) -> Result<Option<u64>> {
        if !is_set(question.class) {
            return Ok(None);
        }
        let mut must = self.of(question, Sign::Must);
        if must.is_empty() {
            return Ok(Some(union_cardinality(&self.of(question, Sign::Should))));
        }
        must.sort_by_key(|list| list.cardinality());
        let must_not = self.of(question, Sign::MustNot);
        Ok(Some(match (must.as_slice(), must_not.as_slice()) {
            ([one], []) => one.cardinality(),
            ([one], [other]) => one.andnot_cardinality(other),
            ([one, other], []) => one.and_cardinality(other),
            ([first, rest @ ..], must_not) => {
                let mut found = (*first).clone();
                rest.iter().for_each(|list| found.and_inplace(list));
                must_not.iter().for_each(|list| found.andnot_inplace(list));
                found.cardinality()
            }
            ([], _) => 0,
        }))
    }

    fn top(&mut self, _: &Question, _: usize) -> Result<Option<Top>> {
        Ok(None)
    }

    fn top_and_count(&mut self, _: &Question, _: usize) -> Result<Option<(Top, u64)>> {
        Ok(None)
    }
}

fn union_cardinality(lists: &[&Bitmap]) -> u64 {
    match lists {
        [one] => one.cardinality(),
        [one, other] => one.or_cardinality(other),
        [one, other, rest @ .., last] => {
            let mut union = one.or(other);
            rest.iter().for_each(|list| union.or_inplace(list));
            union.or_cardinality(last)
        }
        [] => 0,
    }
}
