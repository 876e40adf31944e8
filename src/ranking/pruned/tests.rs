//! Pruned search against the sum over every document, from a plain model of the corpus.

use super::bounds::CLAUSES_MAX;
use super::*;
use crate::analysis::Analyzers;
use crate::document::Document;
use crate::format::lengths::{code_of, score_part};
use crate::ids::{DocId, FieldId};
use crate::ranking::top::ScoredDoc;
use crate::schema::Schema;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use crate::storage::{MemoryStorage, Storage};
use crate::weight::bm25::{FieldScoring, Parameters};
use crate::writer::{Existing, IndexWriter, WriterOptions};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

pub(super) const FIELDS: [FieldId; 2] = [FieldId(0), FieldId(1)];

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(n.max(1))) as u32
    }
}

/// A field, a word, and the documents it is in with its frequency in each.
pub(super) type TestList<'a> = (usize, &'a str, Vec<(u32, u32)>);

/// Documents as plain maps, and the segments that were made of them.
pub(super) struct Corpus {
    /// For each field and word the documents, in the whole snapshot, and how often it is there.
    pub(super) postings: [BTreeMap<String, Vec<(u64, u32)>>; 2],
    /// For each field the code of the length of each document.
    pub(super) lengths: [Vec<u8>; 2],
    pub(super) snapshot: Snapshot,
}

impl Corpus {
    /// Writes `n_docs` documents, a segment for as many as are given; `lists` are field, word and the
    /// documents of the word with its frequencies.
    pub(super) fn new(segments: &[u32], lists: &[TestList<'_>]) -> Corpus {
        let n_docs: u32 = segments.iter().sum();
        let mut texts =
            [vec![String::new(); n_docs as usize], vec![String::new(); n_docs as usize]];
        let mut lengths = [vec![0u32; n_docs as usize], vec![0u32; n_docs as usize]];
        let mut postings = [BTreeMap::new(), BTreeMap::new()];
        for (field, word, docs) in lists {
            let docs: BTreeMap<u32, u32> = docs.iter().copied().filter(|d| d.0 < n_docs).collect();
            for (doc, frequency) in &docs {
                for _ in 0..*frequency {
                    write!(texts[*field][*doc as usize], "{word} ").unwrap();
                }
                lengths[*field][*doc as usize] += frequency;
            }
            let of_word = docs.into_iter().map(|(doc, n)| (u64::from(doc), n)).collect::<Vec<_>>();
            assert!(postings[*field].insert((*word).to_owned(), of_word).is_none());
        }
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let schema = Schema::builder().text("title").text("body").build().unwrap();
        let mut doc = 0;
        for n in segments {
            let options = WriterOptions::new().threads(1);
            let analyzers = Arc::new(Analyzers::default());
            let (storage, schema) = (Arc::clone(&storage), schema.clone());
            let flag = Arc::default();
            let mut writer =
                IndexWriter::open(storage, schema, analyzers, Existing::Keep, flag, options)
                    .unwrap();
            for _ in 0..*n {
                let [title, body] = texts.each_mut().map(|texts| std::mem::take(&mut texts[doc]));
                writer.add(Document::new().with("title", title).with("body", body)).unwrap();
                doc += 1;
            }
            writer.commit().unwrap();
        }
        let snapshot = Snapshot::open(&*storage).unwrap();
        let lengths = lengths.map(|lengths| lengths.into_iter().map(code_of).collect());
        Corpus { postings, lengths, snapshot }
    }

    pub(super) fn scoring(&self, parameters: Parameters) -> [Arc<FieldScoring>; 2] {
        FIELDS.map(|field| {
            Arc::new(FieldScoring::of(field, self.snapshot.readers(), parameters).unwrap())
        })
    }

    /// All documents that match in the order of their scores, each scored by itself.
    fn expected(&self, query: &Query, scoring: &[Arc<FieldScoring>; 2]) -> Vec<ScoredDoc> {
        let mut sums: BTreeMap<u64, (f32, usize)> = BTreeMap::new();
        for word in &query.words {
            let postings = &self.postings[word.field][&word.text];
            for (doc, frequency) in postings {
                let code = self.lengths[word.field][*doc as usize];
                let k = scoring[word.field].norm_cache[usize::from(code)];
                let score = self.weight(word, scoring) * score_part(*frequency, k);
                let sum = sums.entry(*doc).or_insert((0.0, 0));
                *sum = (sum.0 + score, sum.1 + 1);
            }
        }
        let needed = if query.all { query.words.len() } else { 1 };
        let passes = |doc: u64| {
            query.filters.iter().all(|word| {
                let postings = &self.postings[word.field][&word.text];
                postings.binary_search_by_key(&doc, |posting| posting.0).is_ok()
            })
        };
        let matching = sums.into_iter().filter(|(doc, (_, n))| *n >= needed && passes(*doc));
        let mut found: Vec<_> =
            matching.map(|(doc, (score, _))| ScoredDoc::new(score, DocId(doc))).collect();
        found.sort_by(|a, b| b.score().total_cmp(&a.score()).then(a.doc().0.cmp(&b.doc().0)));
        found
    }

    fn weight(&self, word: &Word, scoring: &[Arc<FieldScoring>; 2]) -> f32 {
        let df = self.postings[word.field][&word.text].len() as u64;
        scoring[word.field].weight(df, word.boost)
    }

    /// The clauses of a segment; of those that must all match `None` where a word is not there.
    fn clauses<'s>(
        &self,
        segment: SegmentReader<'s>,
        query: &Query,
        scoring: &[Arc<FieldScoring>; 2],
    ) -> Option<Vec<Clause<'s>>> {
        let mut clauses = vec![];
        for (nth, word) in query.words.iter().chain(&query.filters).enumerate() {
            let is_filter = nth >= query.words.len();
            let field = segment.field(FIELDS[word.field]);
            let info = field.terms().unwrap().get(word.text.as_bytes()).unwrap();
            match info {
                Some(info) => clauses.push(Clause {
                    list: field.ranked(&info).unwrap(),
                    weight: if is_filter { 0.0 } else { self.weight(word, scoring) },
                    lengths: field.lengths().unwrap().unwrap(),
                    scoring: Arc::clone(&scoring[word.field]),
                }),
                None if query.all || is_filter => return None,
                None => {}
            }
        }
        Some(clauses)
    }

    /// The best, and what was looked at by segment; nothing where a segment has no bounds under filters.
    fn found(
        &self,
        query: &Query,
        k: usize,
        scoring: &[Arc<FieldScoring>; 2],
        scratch: &mut Scratch,
    ) -> Option<(Vec<ScoredDoc>, Vec<Pruning>)> {
        let mut top = Top::new(k, vec![]);
        let (mut base, mut prunings) = (0, vec![]);
        for segment in self.snapshot.readers() {
            let clauses = self.clauses(segment, query, scoring);
            let has_words = |clauses: &Vec<Clause<'_>>| clauses.len() > query.filters.len();
            if let Some(clauses) = clauses.filter(|clauses| query.all || has_words(clauses)) {
                // Now and then the number of matches is wanted, too.
                let count = k % 3 == 1;
                let found: Pruning = match query.all {
                    true => {
                        let n = clauses.len();
                        find::<true>(&clauses, n, count, base, &mut top, scratch).unwrap()?
                    }
                    false => {
                        let first_filter = clauses.len() - query.filters.len();
                        let found =
                            find::<false>(&clauses, first_filter, false, base, &mut top, scratch);
                        // If there are no bounds under filters, others look for the best.
                        found.unwrap()?
                    }
                };
                prunings.push(found);
            } else {
                prunings.push(Pruning::nothing());
            }
            base += u64::from(segment.n_docs());
        }
        Some((top.into_sorted().unwrap(), prunings))
    }

    fn check(&self, query: &Query, scoring: &[Arc<FieldScoring>; 2], scratch: &mut Scratch) {
        let expected = self.expected(query, scoring);
        for k in [1, 3, 10, 100, 1000] {
            let Some((found, prunings)) = self.found(query, k, scoring, scratch) else {
                assert!(!query.filters.is_empty());
                return;
            };
            let best = &expected[..k.min(expected.len())];
            assert_eq!(found, best, "the {k} best of {query:?}: {prunings:?}");
            let matching: Option<u64> = prunings.iter().map(|pruning| pruning.matching).sum();
            assert!(matching.is_none_or(|n| n == expected.len() as u64), "{query:?}: {prunings:?}");
        }
    }

    /// Random queries of one to `words_max` words, which may be the same.
    fn check_random(&self, n: u32, words_max: u32, seed: u64) {
        let mut random = Random(seed);
        let mut scratch = Scratch::default();
        let words: Vec<(usize, &String)> = (self.postings.iter().enumerate())
            .flat_map(|(field, lists)| lists.keys().map(move |word| (field, word)))
            .collect();
        let usual = self.scoring(Parameters::default());
        let unusual = self.scoring(Parameters { k1: 0.9, b: 0.4 });
        let flat = self.scoring(Parameters { k1: 2.0, b: 0.0 });
        for nth in 0..n {
            let boosts = [1.0, 1.0, 1.0, 2.5, 0.01];
            let mut word = || {
                let (field, text) = words[random.below(words.len() as u32) as usize];
                let boost = boosts[random.below(boosts.len() as u32) as usize];
                Word { field, text: text.clone(), boost }
            };
            let n_words = 1 + nth % words_max;
            let words = (0..n_words).map(|_| word()).collect();
            let is_long = |word: &Word| {
                let mut segments = self.snapshot.readers();
                segments.all(|segment| {
                    let field = segment.field(FIELDS[word.field]);
                    let info = field.terms().unwrap().get(word.text.as_bytes()).unwrap();
                    info.is_none_or(|info| info.df > 255)
                })
            };
            let mut filters: Vec<Word> = (0..nth % 3).map(|_| word()).collect();
            filters.retain(is_long);
            let scoring = [&usual, &usual, &unusual, &flat][random.below(4) as usize];
            let all = random.below(2) == 0;
            if all {
                filters.clear();
            }
            let query = Query { words, filters, all };
            self.check(&query, scoring, &mut scratch);
        }
    }
}

#[derive(Debug)]
struct Query {
    words: Vec<Word>,
    /// Words of which all matches have all, and which score nothing.
    filters: Vec<Word>,
    all: bool,
}

#[derive(Debug)]
struct Word {
    field: usize,
    text: String,
    boost: f32,
}

/// `n` documents of a window, spread evenly, with the frequencies of a text.
fn spread(random: &mut Random, window: u32, n: u32) -> Vec<(u32, u32)> {
    let step = WINDOW / n;
    let shift = random.below(step);
    (0..n).map(|nth| (window * WINDOW + nth * step + shift, frequency(random))).collect()
}

/// Documents by chance, one in `one_in`.
fn sample(random: &mut Random, n_docs: u32, one_in: u32) -> Vec<(u32, u32)> {
    let docs = (0..n_docs).filter(|_| random.below(one_in) == 0).collect::<Vec<_>>();
    docs.into_iter().map(|doc| (doc, frequency(random))).collect()
}

fn frequency(random: &mut Random) -> u32 {
    match random.below(1000) {
        0 => 1 + random.below(300),
        1..40 => 1 + random.below(20),
        40..200 => 2 + random.below(3),
        _ => 1,
    }
}

/// Lists of all kinds: around the borders of short and long lists and of all kinds of containers.
pub(super) fn long_texts() -> Vec<TestList<'static>> {
    let random = &mut Random(7);
    let n_docs = 2 * WINDOW + 40_000;
    let mut lists = vec![];
    for (word, n) in [("p1", 1), ("p4", 4), ("p5", 5), ("p255", 255), ("p256", 256), ("p257", 257)]
    {
        lists.push((0, word, spread(random, 0, n)));
    }
    let mut container = |word, cardinalities: [u32; 3]| {
        let windows = (0..).zip(cardinalities).filter(|(_, n)| *n > 0);
        let docs = windows.flat_map(|(window, n)| spread(random, window, n)).collect::<Vec<_>>();
        (0, word, docs)
    };
    lists.push(container("c128", [128, 129, 0]));
    lists.push(container("c129", [0, 128, 1024]));
    lists.push(container("c1023", [1023, 1024, 0]));
    lists.push(container("c1024", [1024, 1023, 128]));
    lists.push(container("c4096", [4096, 4097, 300]));
    lists.push(container("c4097", [4097, 4096, 1]));
    lists.push(container("c9000", [9000, 0, 2000]));
    for (word, one_in) in [("s2", 2), ("s5", 5), ("s20", 20), ("s70", 70), ("s200", 200)] {
        lists.push((0, word, sample(random, n_docs, one_in)));
    }
    lists.push((0, "all", (0..n_docs).map(|doc| (doc, 1 + u32::from(doc % 9 == 0))).collect()));
    lists.push((0, "run", (20_000..100_000).map(|doc| (doc, 1)).collect()));
    lists.push((0, "runs", (0..n_docs).filter(|d| d % 1000 < 300).map(|d| (d, 1)).collect()));
    lists.push((0, "shortruns", (0..n_docs).filter(|d| d % 20_000 < 60).map(|d| (d, 2)).collect()));
    for (word, one_in) in [("b3", 3), ("b100", 100), ("b3000", 3000)] {
        lists.push((1, word, sample(random, n_docs, one_in)));
    }
    lists
}

/// Few words a document, so that nearly all scores are equal to others.
pub(super) fn titles() -> Vec<TestList<'static>> {
    let random = &mut Random(11);
    let n_docs = 6 * WINDOW;
    let mut lists = vec![];
    let words = [
        ("t100", 100),
        ("t150", 150),
        ("t300", 300),
        ("t500", 500),
        ("t1000", 1000),
        ("t1500", 1500),
        ("t5000", 5000),
        ("t100000", 100_000),
    ];
    for (word, one_in) in words {
        let docs = sample(random, n_docs, one_in);
        lists.push((0, word, docs.iter().map(|(doc, n)| (*doc, 1 + n / 20)).collect()));
    }
    let clustered = (0..n_docs).filter(|doc| doc / 3000 % 9 == 0 && doc % 3 == 0);
    lists.push((0, "clustered", clustered.map(|doc| (doc, 1)).collect()));
    lists
}

#[test]
fn long_texts_of_one_segment_agree_with_scoring_everything() {
    Corpus::new(&[2 * WINDOW + 40_000], &long_texts()).check_random(120, 7, 1);
}

#[test]
fn segments_agree_with_scoring_everything_by_the_statistics_of_all() {
    Corpus::new(&[40_000, WINDOW + 9, 300, 60_000], &long_texts()).check_random(60, 5, 2);
}

/// In one segment texts are ten times as long as in the others, so that codes were computed with quite another average.
#[test]
fn segments_of_longer_and_of_shorter_texts_agree_with_scoring_everything() {
    let mut lists = long_texts();
    lists.push((0, "long", (0..30_000).map(|doc| (doc, 20 + doc % 90)).collect()));
    lists.push((1, "long", (60_000..90_000).map(|doc| (doc, 1 + doc % 60)).collect()));
    for segments in [&[30_000, 30_000, WINDOW + 9, 20_000][..], &[30_000, 5_000, 5_000, 90_000]] {
        Corpus::new(segments, &lists).check_random(60, 5, 4);
    }
}

#[test]
fn titles_with_equal_scores_agree_with_scoring_everything() {
    Corpus::new(&[5 * WINDOW + 77], &titles()).check_random(120, 5, 3);
}

#[test]
fn more_clauses_than_there_is_room_for_agree_with_scoring_everything() {
    let corpus = Corpus::new(&[70_000], &long_texts());
    let scoring = corpus.scoring(Parameters::default());
    let words: Vec<&String> = corpus.postings[0].keys().collect();
    for n in [31, 32, 33, 70] {
        let word = |nth: usize| words[nth % words.len()].clone();
        let words = (0..n).map(|nth| Word { field: 0, text: word(nth), boost: 1.0 }).collect();
        let query = Query { words, filters: vec![], all: false };
        corpus.check(&query, &scoring, &mut Scratch::default());
        // A conjunction is left to others if no list is short.
        let word = |nth: usize| ["s2", "s5", "all"][nth % 3].to_owned();
        let words = (0..n).map(|nth| Word { field: 0, text: word(nth), boost: 1.0 }).collect();
        let query = Query { words, filters: vec![], all: true };
        let found = corpus.found(&query, 10, &scoring, &mut Scratch::default());
        assert_eq!(found.is_some(), n <= CLAUSES_MAX, "{n}");
    }
}

#[test]
fn windows_of_which_bounds_leave_out_little_are_scored_whole() {
    let random = &mut Random(5);
    let n_docs = 2 * WINDOW + 9_000;
    let names: Vec<String> = (0..16).map(|nth| format!("w{nth}")).collect();
    let mut lists: Vec<TestList<'_>> = vec![];
    for (nth, name) in names.iter().enumerate() {
        let one_in = [40, 10, 90][nth % 3];
        lists.push((nth % 2, name, sample(random, n_docs, one_in)));
    }
    lists.push((0, "rare", spread(random, 1, 200)));
    lists.push((0, "run", (20_000..100_000).map(|doc| (doc, 1 + doc / 90_000)).collect()));
    let corpus = Corpus::new(&[n_docs], &lists);
    let word = |(field, text): (usize, &str)| Word { field, text: text.into(), boost: 1.0 };
    let mut scratch = Scratch::default();
    for parameters in [Parameters::default(), Parameters { k1: 0.9, b: 0.4 }] {
        let scoring = corpus.scoring(parameters);
        for n in [16, 17, 18] {
            let words = lists[..n].iter().map(|(field, text, _)| word((*field, text)));
            let query = Query { words: words.collect(), filters: vec![], all: false };
            corpus.check(&query, &scoring, &mut scratch);
            let (_, prunings) = corpus.found(&query, 11, &scoring, &mut scratch).unwrap();
            assert!(prunings[0].windows_whole > 0, "{n}: {prunings:?}");
            let n_matching = corpus.expected(&query, &scoring).len() as u64;
            assert!(prunings[0].documents_scored <= n_matching, "{n}: {prunings:?}");
        }
    }
}

#[test]
fn lists_without_which_nothing_is_good_enough_are_added_up() {
    let random = &mut Random(11);
    let n_docs = 2 * WINDOW + 30_000;
    let names: Vec<String> = (0..14).map(|nth| format!("w{nth}")).collect();
    let mut lists: Vec<TestList<'_>> = vec![];
    for (nth, name) in names.iter().enumerate() {
        let one_in = [2, 3, 40, 2, 2, 60][nth % 6];
        lists.push((nth % 2, name, sample(random, n_docs, one_in)));
    }
    lists.push((0, "rare", spread(random, 1, 200)));
    lists.push((1, "few", sample(random, n_docs, 300)));
    lists.push((0, "run", (20_000..100_000).map(|doc| (doc, 1 + doc / 90_000)).collect()));
    let corpus = Corpus::new(&[n_docs], &lists);
    let word = |(field, text): (usize, &str)| Word { field, text: text.into(), boost: 1.0 };
    let mut scratch = Scratch::default();
    for parameters in [Parameters::default(), Parameters { k1: 0.9, b: 0.4 }] {
        let scoring = corpus.scoring(parameters);
        for n in [6, 14, 17] {
            let words = lists[..n].iter().map(|(field, text, _)| word((*field, text)));
            let query = Query { words: words.collect(), filters: vec![], all: false };
            corpus.check(&query, &scoring, &mut scratch);
            let (_, prunings) = corpus.found(&query, 11, &scoring, &mut scratch).unwrap();
            assert!(prunings[0].windows_essential > 0, "{n}: {prunings:?}");
            let n_matching = corpus.expected(&query, &scoring).len() as u64;
            assert!(prunings[0].documents_scored <= n_matching / 4, "{n}: {prunings:?}");
        }
    }
}

#[test]
fn lists_with_little_in_common_are_intersected() {
    let random = &mut Random(9);
    let n_docs = 2 * WINDOW + 30_000;
    let mut lists: Vec<TestList<'_>> = vec![];
    for (word, one_in) in [("a40", 40), ("a30", 30), ("b12", 12), ("b10", 10), ("d2", 2), ("d3", 3)]
    {
        lists.push((0, word, sample(random, n_docs, one_in)));
    }
    let runs = (0..n_docs).filter(|doc| doc / 300 % 20 == 0);
    lists.push((0, "runs", runs.map(|doc| (doc, 1 + doc % 2)).collect()));
    let corpus = Corpus::new(&[n_docs], &lists);
    let scoring = corpus.scoring(Parameters::default());
    let mut scratch = Scratch::default();
    for (words, is_intersected) in [
        (&["a40", "a30"][..], true),
        (&["b12", "a30"], true),
        (&["b10", "b12", "runs"], false),
        (&["b10", "a30", "a40"], true),
        (&["runs", "a40", "runs"], false),
        (&["d2", "d3"], false),
        (&["d2", "d3", "d2"], false),
    ] {
        let word = |text: &&str| Word { field: 0, text: (*text).into(), boost: 1.0 };
        let words = words.iter().map(word).collect();
        let query = Query { words, filters: vec![], all: true };
        corpus.check(&query, &scoring, &mut scratch);
        let (_, prunings) = corpus.found(&query, 1000, &scoring, &mut scratch).unwrap();
        assert_eq!(prunings[0].windows_whole > 0, is_intersected, "{query:?}: {prunings:?}");
    }
}

#[test]
fn of_many_equal_scores_the_first_are_enough() {
    let corpus = Corpus::new(&[5 * WINDOW + 77], &titles());
    let word = Word { field: 0, text: "clustered".into(), boost: 1.0 };
    let query = Query { words: vec![word], filters: vec![], all: true };
    let scoring = corpus.scoring(Parameters::default());
    let (found, prunings) = corpus.found(&query, 10, &scoring, &mut Scratch::default()).unwrap();
    let expected = corpus.expected(&query, &scoring);
    assert_eq!(found, expected[..10]);
    assert!(expected.iter().filter(|other| other.score() == found[9].score()).count() > 5_000);
    assert!(prunings[0].documents_scored < 500, "{prunings:?}");
    // With other parameters equal codes say nothing.
    let scoring = corpus.scoring(Parameters { k1: 0.9, b: 0.4 });
    let (found, _) = corpus.found(&query, 10, &scoring, &mut Scratch::default()).unwrap();
    assert_eq!(found, corpus.expected(&query, &scoring)[..10]);
}

#[test]
fn a_short_list_is_looked_up_in_the_others() {
    let corpus = Corpus::new(&[3 * WINDOW], &titles());
    let words: Vec<_> = corpus.postings[0].keys().cloned().collect();
    let word = |text: &String| Word { field: 0, text: text.clone(), boost: 1.0 };
    let scoring = corpus.scoring(Parameters::default());
    let mut n_found = 0;
    for others in words.iter().flat_map(|a| words.iter().map(move |b| [a, b])) {
        let words = vec![word(others[0]), word(&"t1000".to_owned()), word(others[1])];
        let query = Query { words, filters: vec![], all: true };
        corpus.check(&query, &scoring, &mut Scratch::default());
        n_found += corpus.found(&query, 10, &scoring, &mut Scratch::default()).unwrap().0.len();
    }
    assert!(n_found > 30, "{n_found}");
}
