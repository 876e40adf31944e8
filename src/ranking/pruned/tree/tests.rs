//! Random trees against every document scored by itself, from a plain model of the corpus.

use crate::bitmap::Container;
use crate::doc_id_set::DocIdSet;
use crate::format::lengths::score_part;
use crate::ids::{DocId, FieldId};
use crate::look_ups::LookUps;
use crate::plan::{ListsKernel, Shape};
use crate::query::{Logical, Normal, PhraseSpec, Proximity};
use crate::ranking::pruned::tests::{Corpus, FIELDS, Random, long_texts, titles};
use crate::ranking::pruned::{Pruning, Scratch, WINDOW};
use crate::ranking::search::find_best;
use crate::ranking::top::{self, Top};
use crate::weight::bm25::{FieldScoring, FieldScorings, Parameters, idf};
use crate::weight::statistics::{OfSnapshot, Sources};
use crate::weight::{ScoreDetail, Weight, WeightScratch};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The corpus with what its documents are scored by.
struct Naive<'c> {
    corpus: &'c Corpus,
    scoring: [Arc<FieldScoring>; 2],
    /// Number of times that each word is in each document, by field.
    frequencies: [BTreeMap<&'c [u8], Vec<u32>>; 2],
}

impl<'c> Naive<'c> {
    fn new(corpus: &'c Corpus, parameters: Parameters) -> Self {
        let n_docs = corpus.lengths[0].len();
        let frequencies = corpus.postings.each_ref().map(|lists| {
            let of_words = lists.iter().map(|(word, postings)| {
                let mut frequencies = vec![0; n_docs];
                for (doc, frequency) in postings {
                    frequencies[*doc as usize] = *frequency;
                }
                (word.as_bytes(), frequencies)
            });
            of_words.collect()
        });
        Naive { corpus, scoring: corpus.scoring(parameters), frequencies }
    }

    /// Number of times that a word is in a document.
    fn frequency(&self, field: FieldId, term: &[u8], doc: u64) -> u32 {
        self.frequencies[usize::from(field.0)][term][doc as usize]
    }

    fn df(&self, field: FieldId, term: &[u8]) -> u64 {
        self.corpus.postings[usize::from(field.0)][str::from_utf8(term).unwrap()].len() as u64
    }

    fn part(&self, field: FieldId, frequency: u32, doc: u64) -> f32 {
        let field = usize::from(field.0);
        let code = self.corpus.lengths[field][doc as usize];
        score_part(frequency, self.scoring[field].norm_cache[usize::from(code)])
    }

    fn matches(&self, normal: &Normal, doc: u64) -> bool {
        match normal {
            Normal::All => true,
            Normal::Term { field, term } => self.frequency(*field, term, doc) > 0,
            Normal::Or(any) => any.iter().any(|part| self.matches(part, doc)),
            Normal::And { all, none } => {
                all.iter().all(|part| self.matches(part, doc))
                    && !none.iter().any(|part| self.matches(part, doc))
            }
            Normal::AtLeast { minimum, any } => {
                any.iter().filter(|part| self.matches(part, doc)).count() >= *minimum as usize
            }
            // All are of a word that follows itself; in the corpus its occurrences stand side by side.
            Normal::Phrase { field, phrase } => self.frequency(*field, &phrase.terms[0], doc) > 1,
            other => panic!("the naive scorer does not know {other:?}"),
        }
    }

    fn score(&self, scored: &Logical, doc: u64) -> Option<f32> {
        match scored {
            Logical::Term { field, term, boost } => {
                let frequency = self.frequency(*field, term, doc);
                let weight =
                    self.scoring[usize::from(field.0)].weight(self.df(*field, term), *boost);
                (frequency > 0).then(|| weight * self.part(*field, frequency, doc))
            }
            Logical::Phrase { field, phrase, boost } => {
                let term = &phrase.terms[0];
                let frequency = self.frequency(*field, term, doc).saturating_sub(1);
                let scoring = &self.scoring[usize::from(field.0)];
                let idf = idf(scoring.n_docs, self.df(*field, term));
                let weight = boost * (idf + idf) * (scoring.bm25.k1 + 1.0);
                (frequency > 0).then(|| weight * self.part(*field, frequency, doc))
            }
            other @ (Logical::BestTerms { .. }
            | Logical::Combined { .. }
            | Logical::Nearest { .. }) => {
                panic!("the naive scorer does not know {other:?}")
            }
            Logical::Constant { matching, score } => self.matches(matching, doc).then_some(*score),
            Logical::Sum { must, should, must_not, minimum } => {
                let all: Vec<f32> = must.iter().filter_map(|part| self.score(part, doc)).collect();
                let any: Vec<f32> =
                    should.iter().filter_map(|part| self.score(part, doc)).collect();
                let matches = all.len() == must.len()
                    && any.len() >= *minimum as usize
                    && !must_not.iter().any(|part| self.matches(part, doc));
                matches.then(|| all.iter().chain(&any).fold(0.0, |sum, score| sum + score))
            }
            Logical::Max { any, tie } => {
                let scores: Vec<f32> =
                    any.iter().filter_map(|part| self.score(part, doc)).collect();
                let best = scores.iter().copied().reduce(f32::max)?;
                assert!(scores.len() <= 2, "the order of the others would matter");
                let others = scores.iter().sum::<f32>() - best;
                let least = scores.iter().copied().fold(best, f32::min);
                Some(best + tie * if others == 0.0 { 0.0 } else { least })
            }
        }
    }

    /// Matches by segment, as execution would find them.
    fn set(&self, normal: &Normal) -> Vec<Arc<DocIdSet>> {
        let mut base = 0;
        let segments = self.corpus.snapshot.readers().map(|segment| {
            let n_docs = segment.n_docs();
            if *normal == Normal::All {
                return DocIdSet::Everything;
            }
            let DocIdSet::Some(mut set) = DocIdSet::with_room(n_docs) else { unreachable!() };
            for key in 0..n_docs.div_ceil(WINDOW) {
                let window = key * WINDOW..n_docs.min((key + 1) * WINDOW);
                let docs = window.filter(|doc| self.matches(normal, base + u64::from(*doc)));
                let lows: Vec<[u8; 2]> = docs.map(|doc| (doc as u16).to_le_bytes()).collect();
                set.push(key, lows.len() as u32, Container::Array(&lows)).unwrap();
            }
            base += u64::from(n_docs);
            DocIdSet::Some(set)
        });
        segments.map(Arc::new).collect()
    }

    fn check(&self, scored: &Logical, parameters: Parameters, scratch: &mut Scratch) -> Pruning {
        let segments = || self.corpus.snapshot.readers();
        let kept = FieldScorings::new(self.corpus.snapshot.manifest.schema.fields().len());
        let parameters: Vec<_> = FIELDS.map(|field| (field, parameters)).to_vec();
        let (snapshot, parameters) = (&self.corpus.snapshot, &parameters[..]);
        let statistics = OfSnapshot { snapshot, parameters, kept: &kept };
        let sources = Sources { statistics: &statistics, look_ups: &LookUps::default() };
        let memory = WeightScratch::default();
        let mut ranked =
            Weight::new(scored, segments(), &sources, ScoreDetail::Each, memory).unwrap();
        let wanted = ranked.wanted_sets();
        let found: Vec<_> = wanted.iter().map(|normal| self.set(normal)).collect();
        ranked.give_sets(&wanted, &found);
        let n_docs = self.corpus.lengths[0].len() as u64;
        let scores = (0..n_docs).filter_map(|doc| Some((self.score(scored, doc)?, DocId(doc))));
        let mut expected: Vec<_> =
            scores.map(|(score, doc)| top::ScoredDoc::new(score, doc)).collect();
        expected.sort_by(|a, b| b.cmp(a));
        let mut all = Pruning::default();
        for k in [1, 10, 100, 1000] {
            let mut top = Top::new(k, vec![]);
            all += find_best(&ranked, Some(Shape::Tree), None, false, &mut top, scratch).unwrap();
            let found = top.into_sorted().unwrap();
            let best = &expected[..k.min(expected.len())];
            assert!(found == best, "the {k} best of {scored:?}: {found:?}, not {best:?}");
        }
        all
    }
}

/// Queries by chance over the words of a corpus.
struct Queries<'c> {
    random: Random,
    words: Vec<(FieldId, &'c [u8])>,
}

impl<'c> Queries<'c> {
    fn new(corpus: &'c Corpus, seed: u64) -> Self {
        let words = FIELDS
            .iter()
            .zip(&corpus.postings)
            .flat_map(|(field, lists)| lists.keys().map(move |word| (*field, word.as_bytes())));
        Queries { random: Random(seed), words: words.collect() }
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len() as u32) as usize]
    }

    fn word(&mut self) -> (FieldId, Vec<u8>) {
        let words = std::mem::take(&mut self.words);
        let (field, word) = self.one_of(&words);
        self.words = words;
        (field, word.to_vec())
    }

    fn boost(&mut self) -> f32 {
        self.one_of(&[1.0, 1.0, 1.0, 2.5, 0.01])
    }

    fn phrase(&mut self) -> (FieldId, Arc<PhraseSpec>) {
        let (field, term) = self.word();
        let proximity = self.one_of(&[Proximity::Exact, Proximity::Ordered(0)]);
        let words = vec![(0, term[..].into()), (1, term.into())];
        (field, Arc::new(PhraseSpec::new(words, None, proximity)))
    }

    fn normal(&mut self) -> Normal {
        let mut term = || {
            let (field, term) = self.word();
            Normal::Term { field, term: term.into() }
        };
        let (a, b, c) = (term(), term(), term());
        match self.random.below(9) {
            0 => Normal::Or(vec![a, b]),
            1 => Normal::And { all: vec![a], none: vec![b] },
            2 => Normal::And { all: vec![a, Normal::Or(vec![b, c])], none: vec![] },
            3 => Normal::AtLeast { minimum: 2, any: vec![a, b, c] },
            4 => {
                let (field, phrase) = self.phrase();
                Normal::Phrase { field, phrase }
            }
            5 => Normal::All,
            _ => a,
        }
    }

    fn leaf(&mut self) -> Logical {
        let ((field, term), boost) = (self.word(), self.boost());
        match self.random.below(12) {
            0 => {
                Logical::Constant { matching: self.normal(), score: self.one_of(&[0.0, 1.0, 7.5]) }
            }
            1 => {
                let (field, phrase) = self.phrase();
                Logical::Phrase { field, phrase, boost }
            }
            _ => Logical::Term { field, term: term.into(), boost },
        }
    }

    fn some(&mut self, depth: u32, least: u32, most: u32) -> Vec<Logical> {
        let n = least + self.random.below(most - least + 1);
        (0..n).map(|_| self.query(depth)).collect()
    }

    fn query(&mut self, depth: u32) -> Logical {
        let Some(depth) = depth.checked_sub(1) else { return self.leaf() };
        if self.random.below(6) == 0 {
            return Logical::Max { any: self.some(0, 1, 2), tie: self.one_of(&[0.0, 0.3, 1.0]) };
        }
        let must = self.some(depth, 0, 2);
        let should = self.some(depth, 0, 4);
        let minimum = match should.len() as u32 {
            n if must.is_empty() => 1 + self.random.below(n.max(1)),
            n => [0, 0, 0, self.random.below(n + 1)][self.random.below(4) as usize],
        };
        let n_excluded = [0, 0, 1, 2][self.random.below(4) as usize];
        let must_not = (0..n_excluded).map(|_| self.normal()).filter(|not| *not != Normal::All);
        let must_not = must_not.collect();
        // The root of a tree that is a constant is answered elsewhere.
        Logical::Sum { must, should, must_not, minimum }
    }
}

fn check_random(corpus: &Corpus, n: u32, seed: u64) -> Pruning {
    let mut queries = Queries::new(corpus, seed);
    let usual = Parameters::default();
    let unusual = Parameters { k1: 0.9, b: 0.4 };
    let naive = [usual, unusual].map(|parameters| Naive::new(corpus, parameters));
    let (mut scratch, mut all) = (Scratch::default(), Pruning::default());
    for nth in 0..n {
        let depth = 1 + nth % 3;
        let query = queries.query(depth);
        let (naive, parameters) =
            [(&naive[0], usual), (&naive[1], unusual)][(nth / 3 % 2) as usize];
        all += naive.check(&query, parameters, &mut scratch);
    }
    all
}

#[test]
fn trees_over_long_texts_agree_with_scoring_everything() {
    let corpus = Corpus::new(&[2 * WINDOW + 40_000], &long_texts());
    let pruning = check_random(&corpus, 30, 5);
    assert!(pruning.windows_skipped > 0 && pruning.blocks_scored < pruning.blocks_considered);
}

#[test]
fn trees_over_segments_agree_with_scoring_everything() {
    let corpus = Corpus::new(&[40_000, WINDOW + 9, 300, 60_000], &long_texts());
    check_random(&corpus, 20, 6);
}

#[test]
fn trees_over_titles_with_equal_scores_agree_with_scoring_everything() {
    check_random(&Corpus::new(&[5 * WINDOW + 77], &titles()), 20, 7);
}

#[test]
fn of_documents_with_one_word_and_equal_scores_the_first_are_enough() {
    let corpus = Corpus::new(&[5 * WINDOW + 77], &titles());
    let naive = Naive::new(&corpus, Parameters::default());
    let unusual = Parameters { k1: 0.9, b: 0.4 };
    let other = Naive::new(&corpus, unusual);
    let term = |text: &str| {
        let term = text.as_bytes().to_vec();
        Logical::Term { field: FIELDS[0], term: term.into(), boost: 1.0 }
    };
    for (should, must_not) in [
        (vec![term("t100000")], vec![]),
        (vec![term("t100000"), term("t5000")], vec![]),
        (vec![], vec![Normal::Term { field: FIELDS[0], term: b"t100"[..].into() }]),
    ] {
        let must = vec![term("clustered")];
        let query = Logical::Sum { must, should, must_not, minimum: 0 };
        let pruning = naive.check(&query, Parameters::default(), &mut Scratch::default());
        // Up to 1,000 are wanted, of some 12,000 that have the word.
        assert!(pruning.documents_scored < 3_000, "{pruning:?} for {query:?}");
        // With other parameters equal codes say nothing.
        other.check(&query, unusual, &mut Scratch::default());
    }
}

#[test]
fn whatever_must_not_match_does_not() {
    let corpus = Corpus::new(&[WINDOW + 9_000], &long_texts());
    let naive = Naive::new(&corpus, Parameters::default());
    let term = |text: &str| Normal::Term { field: FIELDS[0], term: text.as_bytes().into() };
    let twice = |text: &str| {
        let words = vec![(0, text.as_bytes().into()), (1, text.as_bytes().into())];
        let phrase = Arc::new(PhraseSpec::new(words, None, Proximity::Exact));
        Normal::Phrase { field: FIELDS[0], phrase }
    };
    let some = || vec![term("s2"), term("s5"), term("runs")];
    for not in [
        term("s5"),
        twice("s2"),
        Normal::Or(some()),
        Normal::Or(vec![term("s20"), twice("s5")]),
        Normal::And { all: vec![term("s2")], none: vec![term("s5")] },
        Normal::And { all: vec![term("s2")], none: vec![twice("s2"), term("runs")] },
        Normal::And {
            all: vec![term("s2"), Normal::Or(vec![term("s5"), term("runs")])],
            none: vec![],
        },
        Normal::AtLeast { minimum: 2, any: some() },
    ] {
        let scored = |text: &str| Logical::Term {
            field: FIELDS[0],
            term: text.as_bytes().into(),
            boost: 1.0,
        };
        let (must, should) = (vec![scored("s20")], vec![scored("s2"), scored("s5")]);
        let query = Logical::Sum { must, should, must_not: vec![not], minimum: 0 };
        naive.check(&query, Parameters::default(), &mut Scratch::default());
    }
}

#[test]
fn trees_of_more_parts_than_there_are_bounds_for_agree_with_scoring_everything() {
    let corpus = Corpus::new(&[70_000], &long_texts());
    let naive = Naive::new(&corpus, Parameters::default());
    let mut queries = Queries::new(&corpus, 8);
    for n in [31, 32, 33, 70] {
        let terms = |queries: &mut Queries<'_>, n| -> Vec<Logical> {
            let words = (0..n).map(|_| queries.word());
            words
                .map(|(field, term)| Logical::Term { field, term: term.into(), boost: 1.0 })
                .collect()
        };
        let should = terms(&mut queries, n - 1);
        let query =
            Logical::Sum { must: terms(&mut queries, 1), should, must_not: vec![], minimum: 0 };
        naive.check(&query, Parameters::default(), &mut Scratch::default());
    }
}

#[test]
fn one_required_word_and_others_agree_with_scoring_everything() {
    for (corpus, seed) in [
        (Corpus::new(&[2 * WINDOW + 40_000], &long_texts()), 31),
        (Corpus::new(&[40_000, WINDOW + 9, 300, 60_000], &long_texts()), 32),
        (Corpus::new(&[5 * WINDOW + 77], &titles()), 33),
    ] {
        let usual = Parameters::default();
        let unusual = Parameters { k1: 0.9, b: 0.4 };
        let naive = [usual, unusual].map(|parameters| Naive::new(&corpus, parameters));
        let mut queries = Queries::new(&corpus, seed);
        let (mut scratch, mut all) = (Scratch::default(), Pruning::default());
        for nth in 0..24 {
            let mut term = || {
                let ((field, term), boost) = (queries.word(), queries.boost());
                Logical::Term { field, term: term.into(), boost }
            };
            let (must, should) = (vec![term()], (0..1 + nth % 5).map(|_| term()).collect());
            let (field, term) = queries.word();
            let not = Normal::Term { field, term: term.into() };
            let must_not = if nth % 3 == 2 { vec![not] } else { vec![] };
            let query = Logical::Sum { must, should, must_not, minimum: 0 };
            let at = nth / 5 % 2;
            all += naive[at].check(&query, [usual, unusual][at], &mut scratch);
        }
        let mut taken = all.kernels.taken().map(|(kernel, _)| kernel);
        assert!(taken.any(|kernel| kernel == ListsKernel::RequiredEach), "seed {seed}");
    }
}

#[test]
fn words_that_only_filter_agree_with_scoring_everything() {
    for (corpus, seed) in [
        (Corpus::new(&[2 * WINDOW + 40_000], &long_texts()), 21),
        (Corpus::new(&[40_000, WINDOW + 9, 300, 60_000], &long_texts()), 22),
        (Corpus::new(&[5 * WINDOW + 77], &titles()), 23),
    ] {
        let naive = Naive::new(&corpus, Parameters::default());
        let mut queries = Queries::new(&corpus, seed);
        let mut scratch = Scratch::default();
        for nth in 0..24 {
            let should: Vec<_> = (0..1 + nth % 4)
                .map(|_| {
                    let ((field, term), boost) = (queries.word(), queries.boost());
                    Logical::Term { field, term: term.into(), boost }
                })
                .collect();
            let mut must: Vec<_> = (0..1 + nth % 2)
                .map(|_| {
                    let (field, term) = queries.word();
                    let matching = Normal::Term { field, term: term.into() };
                    Logical::Constant { matching, score: 0.0 }
                })
                .collect();
            let query = match nth % 3 {
                0 => Logical::Sum { must, should, must_not: vec![], minimum: 1 },
                at => {
                    let any = Logical::Sum { must: vec![], should, must_not: vec![], minimum: 1 };
                    must.insert(at as usize - 1, any);
                    Logical::Sum { must, should: vec![], must_not: vec![], minimum: 0 }
                }
            };
            naive.check(&query, Parameters::default(), &mut scratch);
        }
    }
}
