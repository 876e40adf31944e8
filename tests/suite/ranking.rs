//! Scores and their order against a naive scorer that looks at every document.

use crate::naive::{distance, fits};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use treepie::explain::Explanation;
use treepie::query::{Boost, Fuzziness, PATTERN_TERMS_MAX, Query, Tie};
use treepie::search::{IdfScope, Order, Relation, TotalMode};
use treepie::writer::MergePolicy;
use treepie::{After, DocId, Document, Hit, Index, Schema, SearchBuilder, Searcher, WriterOptions};

mod combined;
mod masks;
mod patterns;
mod segments;

const FIELDS: [&str; 2] = ["title", "body"];

/// The fields that are taken for one, with their weights.
type Scope<'a> = &'a [(String, Boost)];

/// Every document's words, by field.
struct Naive {
    docs: Vec<[Vec<String>; 2]>,
    /// In how many documents a word is, by field.
    df: [BTreeMap<String, u32>; 2],
    /// How many documents have a field, and their words in it.
    totals: [(f64, f64); 2],
    /// Of a pattern so many terms are scored.
    pattern_terms: usize,
    /// Which documents are deleted: they count for the statistics, and never match.
    deleted: Vec<bool>,
}

impl Naive {
    /// The score of a document; `None` where it does not match. Clauses add up in their order, in `f32`.
    fn score(&self, query: &Query, scope: Scope<'_>, doc: usize, boost: f32) -> Option<f32> {
        let sum = |queries: &[Query]| {
            let scores = queries.iter().map(|query| self.score(query, scope, doc, boost));
            scores.flatten().fold((0, 0.0), |(n, sum), score| (n + 1, sum + score))
        };
        match query {
            Query::Word { field: Some(field), text, .. } => self.term(field, text, doc, boost),
            Query::Word { field: None, text, .. } => self.combined(scope, text, doc, boost),
            Query::Fields { fields, combined: true, query } => {
                self.score(query, fields, doc, boost)
            }
            Query::Phrase { field: Some(field), text, .. } => {
                let words: Vec<&str> = text.split(' ').collect();
                let texts = &self.docs[doc][field_number(field)];
                let places = texts.windows(words.len()).filter(|window| *window == words);
                self.scored(field, &words, places.count(), doc, boost)
            }
            Query::And(all) => {
                let (n, score) = sum(all);
                (n == all.len()).then_some(score)
            }
            Query::Or(any) => {
                let (n, score) = sum(any);
                (n > 0).then_some(score)
            }
            Query::Group { must, should, must_not, minimum } => {
                let (n_must, of_must) = sum(must);
                if n_must < must.len() || sum(must_not).0 > 0 {
                    return None;
                }
                let scores = should.iter().map(|query| self.score(query, scope, doc, boost));
                let matching: Vec<f32> = scores.flatten().collect();
                let alone = u32::from(must.is_empty() && !should.is_empty());
                let enough = matching.len() >= minimum.unwrap_or(alone) as usize;
                enough.then(|| matching.iter().fold(of_must, |sum, score| sum + score))
            }
            Query::DisMax { any, tie } => {
                let scores = any.iter().map(|query| self.score(query, scope, doc, boost));
                let mut scores: Vec<f32> = scores.flatten().collect();
                scores.sort_by(|a, b| b.total_cmp(a));
                let (best, others) = scores.split_first()?;
                assert!(others.len() <= 1, "the order of the others would matter");
                Some(best + tie.get() * others.iter().sum::<f32>())
            }
            Query::Boost { query, boost: factor } => {
                self.score(query, scope, doc, (boost * factor.get()).min(1e30))
            }
            Query::ConstantScore { query, score } => {
                self.score(query, scope, doc, 1.0).map(|_| score.get() * boost)
            }
            Query::Not(query) => self.score(query, scope, doc, 1.0).is_none().then_some(0.0),
            Query::All => Some(boost),
            Query::Prefix { field: Some(field), .. }
            | Query::Wildcard { field: Some(field), .. }
            | Query::Fuzzy { field: Some(field), .. } => self.pattern(field, query, doc, boost),
            other => panic!("the naive scorer does not know {other}"),
        }
    }

    /// BM25F, as the paper has it: one field made of several.
    fn combined(&self, scope: Scope<'_>, word: &str, doc: usize, boost: f32) -> Option<f32> {
        let weighted = |doc: usize, of_field: &dyn Fn(&Vec<String>) -> usize| -> f32 {
            let values = scope.iter().map(|(name, weight)| {
                weight.get() * of_field(&self.docs[doc][field_number(name)]) as f32
            });
            values.sum()
        };
        let frequency = weighted(doc, &|words| words.iter().filter(|other| *other == word).count());
        let fields = || scope.iter().map(|(name, _)| field_number(name));
        let n_docs = fields().map(|field| self.totals[field].0).fold(0.0, f64::max);
        let df = fields().filter_map(|field| self.df[field].get(word)).max().copied();
        let df = f64::from(df.unwrap_or_default());
        let n_words: f64 = scope
            .iter()
            .map(|(name, weight)| f64::from(weight.get()) * self.totals[field_number(name)].1)
            .sum();
        let average = (n_words / n_docs) as f32;
        let idf = (1.0 + (n_docs - df + 0.5) / (df + 0.5)).ln() as f32;
        let k = 1.2 * (1.0 - 0.75 + 0.75 * weighted(doc, &Vec::len) / average);
        (frequency > 0.0).then(|| boost * idf * (1.2 + 1.0) * (frequency / (frequency + k)))
    }

    fn term(&self, field: &str, word: &str, doc: usize, boost: f32) -> Option<f32> {
        let words = &self.docs[doc][field_number(field)];
        let frequency = words.iter().filter(|other| *other == word).count();
        self.scored(field, &[word], frequency, doc, boost)
    }

    /// The sum over the best terms of a pattern, the best first, of what they score.
    fn pattern(&self, name: &str, query: &Query, doc: usize, boost: f32) -> Option<f32> {
        let field = field_number(name);
        let mut terms: Vec<(usize, Reverse<u32>, &String)> = vec![];
        for (term, df) in &self.df[field] {
            terms.extend(is_meant(query, term).map(|distance| (distance, Reverse(*df), term)));
        }
        if !terms.iter().any(|(.., term)| self.docs[doc][field].contains(term)) {
            return None;
        }
        if self.pattern_terms == 0 {
            return Some(boost);
        }
        let nearness = |distance: usize, term: &str| match query {
            Query::Fuzzy { text, .. } => {
                1.0 - distance as f32 / text.chars().count().min(term.chars().count()) as f32
            }
            _ => 1.0,
        };
        terms.retain(|(distance, _, term)| nearness(*distance, term) > 0.0);
        terms.sort();
        terms.truncate(self.pattern_terms);
        let most = terms.iter().map(|(_, df, _)| df.0).max().unwrap_or_default();
        let mut score = 0.0;
        for (distance, Reverse(df), term) in terms {
            let df = if matches!(query, Query::Fuzzy { .. }) { most } else { df };
            let idf = self.idf(field, df);
            let frequency = self.docs[doc][field].iter().filter(|other| *other == term).count();
            let boost = boost * nearness(distance, term);
            score += self.part(field, idf, frequency, doc, boost).unwrap_or_default();
        }
        Some(score)
    }

    /// What so many occurrences of a word, or of all words as a phrase, are worth.
    fn scored(
        &self,
        field: &str,
        words: &[&str],
        frequency: usize,
        doc: usize,
        boost: f32,
    ) -> Option<f32> {
        let field = field_number(field);
        let df = |word: &&str| self.df[field].get(*word).copied().unwrap_or_default();
        let idf: f32 = words.iter().map(|word| self.idf(field, df(word))).sum();
        self.part(field, idf, frequency, doc, boost)
    }

    fn idf(&self, field: usize, df: u32) -> f32 {
        let (n_docs, df) = (self.totals[field].0, f64::from(df));
        (1.0 + (n_docs - df + 0.5) / (df + 0.5)).ln() as f32
    }

    fn part(
        &self,
        field: usize,
        idf: f32,
        frequency: usize,
        doc: usize,
        boost: f32,
    ) -> Option<f32> {
        let (n_docs, n_tokens) = self.totals[field];
        let average = (n_tokens / n_docs) as f32;
        let k = 1.2 * (1.0 - 0.75 + 0.75 * self.docs[doc][field].len() as f32 / average);
        let frequency = frequency as f32;
        (frequency > 0.0).then(|| boost * idf * (1.2 + 1.0) * (frequency / (frequency + k)))
    }

    /// What matches, the best first.
    fn ranked(&self, query: &Query) -> Vec<(f32, u64)> {
        let scores = (0..self.docs.len())
            .filter(|doc| !self.deleted[*doc])
            .filter_map(|doc| self.score(query, &[], doc, 1.0).map(|score| (score, doc as u64)));
        let mut scores: Vec<_> = scores.collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scores
    }
}

/// How far a term is from what a pattern asks for; `None` where it is not meant.
fn is_meant(query: &Query, term: &str) -> Option<usize> {
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    match query {
        Query::Prefix { text, .. } => term.starts_with(text).then_some(0),
        Query::Wildcard { pattern, .. } => fits(&chars(pattern), &chars(term)).then_some(0),
        Query::Fuzzy { text, fuzziness, .. } => {
            let fixed = text.len().min(fuzziness.prefix_len as usize);
            let rest = term.strip_prefix(&text[..fixed])?;
            let far = distance(&chars(&text[fixed..]), &chars(rest), fuzziness.transpositions);
            (far <= usize::from(fuzziness.distance)).then_some(far)
        }
        other => panic!("{other} is no pattern"),
    }
}

fn field_number(name: &str) -> usize {
    FIELDS.iter().position(|field| *field == name).unwrap()
}

/// Numbers that look random: a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    /// A word; a few are in most texts and most are in few.
    fn word(&mut self) -> String {
        let most = [3, 12, 60][self.below(3)];
        format!("w{}", self.below(most))
    }

    fn text(&mut self, n_words: Range<usize>) -> Vec<String> {
        // Below 40 words lengths are exact.
        (0..n_words.start + self.below(n_words.len())).map(|_| self.word()).collect()
    }

    fn query(&mut self, depth: usize) -> Query {
        let word = |this: &mut Self| Query::word_in(FIELDS[this.below(2)], this.word());
        let some = |this: &mut Self, n: usize| -> Vec<Query> {
            (0..1 + this.below(n)).map(|_| this.query(depth - 1)).collect()
        };
        if depth == 0 {
            let phrase = [self.word(), self.word(), self.word()][..2 + self.below(2)].join(" ");
            return match self.below(3) {
                0 => Query::phrase(phrase).in_field(FIELDS[self.below(2)]),
                _ => word(self),
            };
        }
        match self.below(13) {
            0..3 => Query::any_of((0..1 + self.below(5)).map(|_| word(self))),
            3..5 => Query::all_of((0..1 + self.below(3)).map(|_| word(self))),
            5 => Query::any_of(some(self, 3)),
            6 => Query::all_of(some(self, 3)),
            7 => {
                let mut group = Query::boolean().must(word(self)).should(self.query(depth - 1));
                if self.below(2) == 0 {
                    group = group.must_not(word(self));
                }
                group.build()
            }
            8 => Query::best_of([self.query(depth - 1), word(self)], Tie::new(0.5).unwrap()),
            9 => self.query(depth - 1).boosted([0.5, 3.0, 1e20][self.below(3)]).unwrap(),
            10 => {
                let mut group = Query::boolean();
                let n = 2 + self.below(4);
                for _ in 0..n {
                    group = group.should(self.query(depth - 1));
                }
                group.minimum(self.below(n + 1) as u32).build()
            }
            11 => {
                let mut group = Query::boolean().filter(self.query(depth - 1));
                for _ in 0..1 + self.below(3) {
                    group = group.should(word(self));
                }
                group.must_not(self.query(depth - 1)).build()
            }
            _ => self.query(depth - 1).constant_score(2.5).unwrap(),
        }
    }
}

/// An index of random documents in so many segments.
fn corpus(random: &mut Random, n_docs: usize, n_segments: usize) -> (Naive, Searcher) {
    corpus_without(random, n_docs, n_segments, 0)
}

/// The same where of a hundred documents about `percent` are deleted, by two commits.
fn corpus_without(
    random: &mut Random,
    n_docs: usize,
    n_segments: usize,
    percent: usize,
) -> (Naive, Searcher) {
    let n_each = n_docs.div_ceil(n_segments);
    let sizes: Vec<usize> =
        (0..n_docs).step_by(n_each).map(|start| n_each.min(n_docs - start)).collect();
    let (mut naive, index) = indexed(random, &sizes);
    // The first of each segment stays, so that no segment goes and numbers stay what they are.
    let others = || (0..n_docs).filter(|doc| !doc.is_multiple_of(n_each));
    for _ in 0..if percent > 0 { 2 } else { 0 } {
        let some: Vec<usize> = others().filter(|_| random.below(200) < percent).collect();
        delete(&mut naive, &index, &some);
    }
    (naive, index.searcher().unwrap())
}

/// Segments stay as they are, and so do the numbers of documents.
fn never_merging() -> WriterOptions {
    let never = MergePolicy::default().documents_max(0).deleted_percent(100);
    WriterOptions::default().merge_policy(never)
}

/// Deletes documents, in one commit.
fn delete(naive: &mut Naive, index: &Index, docs: &[usize]) {
    let mut writer = index.writer_with(never_merging()).unwrap();
    for doc in docs {
        writer.delete_value("number", doc.to_string()).unwrap();
        naive.deleted[*doc] = true;
    }
    writer.commit().unwrap();
}

/// An index of random documents in segments of these sizes.
fn indexed(random: &mut Random, sizes: &[usize]) -> (Naive, Index) {
    indexed_of(random, sizes, |_| 0..30)
}

/// An index of random documents in segments of these sizes, whose texts have so many words, given the number of their segment.
fn indexed_of(
    random: &mut Random,
    sizes: &[usize],
    n_words: impl Fn(usize) -> Range<usize>,
) -> (Naive, Index) {
    let schema = Schema::builder().text("title").text("body").keyword("number").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer_with(never_merging()).unwrap();
    let mut docs = vec![];
    for (segment, n_docs) in sizes.iter().enumerate() {
        for nth in docs.len()..docs.len() + n_docs {
            let texts = [(); 2].map(|()| random.text(n_words(segment)));
            let mut document = Document::new().with("number", nth.to_string());
            for (field, words) in FIELDS.into_iter().zip(&texts) {
                if !words.is_empty() {
                    document = document.with(field, words.join(" "));
                }
            }
            writer.add(document).unwrap();
            docs.push(texts);
        }
        writer.commit().unwrap();
    }
    drop(writer);
    let deleted = vec![false; docs.len()];
    let df = [0, 1].map(|field| {
        let mut df = BTreeMap::new();
        for words in docs.iter().map(|texts: &[Vec<String>; 2]| &texts[field]) {
            for word in words.iter().collect::<BTreeSet<_>>() {
                *df.entry(word.clone()).or_default() += 1;
            }
        }
        df
    });
    let totals = [0, 1].map(|field| {
        let lengths = docs.iter().map(|texts| texts[field].len()).filter(|len| *len > 0);
        (lengths.clone().count() as f64, lengths.sum::<usize>() as f64)
    });
    (Naive { docs, df, totals, pattern_terms: 0, deleted }, index)
}

/// The same to a few units in the last place: the naive scorer multiplies weights in another order.
fn nearly(a: f32, b: f32) -> bool {
    (a - b).abs() <= 4.0 * f32::EPSILON * a.abs().max(b.abs())
}

#[test]
fn random_queries_rank_like_the_naive_scorer() {
    let mut random = Random(7);
    // Ten thousand queries.
    let corpora = [
        (1, 1, 500),
        (40, 1, 2_800),
        (40, 3, 500),
        (400, 1, 2_700),
        (400, 5, 3_000),
        (1_500, 2, 500),
    ];
    for (n_docs, n_segments, n_queries) in corpora {
        let (naive, searcher) = corpus(&mut random, n_docs, n_segments);
        check_random(&mut random, &naive, &searcher, n_queries);
    }
}

#[test]
fn deleted_documents_are_neither_found_nor_counted_and_change_no_score() {
    let mut random = Random(77);
    let corpora = [
        (40, 3, 30, 300),
        (400, 1, 30, 800),
        (400, 5, 95, 500),
        (1_500, 2, 30, 800),
        (1_500, 1, 1, 200),
    ];
    for (n_docs, n_segments, percent, n_queries) in corpora {
        let (naive, searcher) = corpus_without(&mut random, n_docs, n_segments, percent);
        let n_deleted = naive.deleted.iter().filter(|is| **is).count();
        assert!(n_deleted > 0);
        assert_eq!(searcher.n_docs(), (n_docs - n_deleted) as u64);
        check_random(&mut random, &naive, &searcher, n_queries);
    }
}

/// Thresholds are taken from lists that still have what is deleted. Where that is what scores best, they are too high
/// for what is left, while a segment without deletes fills the page with less.
#[test]
fn the_best_are_found_where_what_scored_best_is_deleted() {
    let mut random = Random(99);
    let mut n_twice = 0;
    let queries =
        ["title:w0", "body:w1", "title:w1 body:w2", "title:w0 +body:w1", "+title:w2 +title:w0"];
    for (nth, text) in queries.into_iter().enumerate() {
        let n_few = 4 + 5 * nth;
        let (mut naive, index) = indexed(&mut random, &[n_few, 900, n_few, 400]);
        let query = index.searcher().unwrap().parse(text).unwrap();
        let best: Vec<usize> = naive.ranked(&query).iter().map(|(_, doc)| *doc as usize).collect();
        let of_large =
            |doc: &usize| (n_few..n_few + 900).contains(doc) || *doc >= n_few + 900 + n_few;
        let best: Vec<usize> = best.into_iter().filter(of_large).collect();
        delete(&mut naive, &index, &best[..best.len() * 2 / 3]);
        let searcher = index.searcher().unwrap();
        let expected = naive.ranked(&query);
        for limit in [1, 2, 5, 10, 20, 50, 100] {
            check(&searcher, &query, &expected, 0, limit);
            let tree = searcher.search(&query).limit(limit).analyze().unwrap();
            let ranking = tree.plan.actual.as_ref().unwrap().ranking.as_ref().unwrap();
            n_twice += usize::from(ranking.searched_twice);
            assert_eq!(ranking.searched_twice, tree.to_string().contains("searched twice"));
            let rises = || ranking.thresholds.iter().map(|rise| (rise.documents, rise.score));
            assert!(rises().is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{tree}");
        }
        check_random(&mut random, &naive, &searcher, 100);
    }
    assert!(n_twice >= queries.len(), "{n_twice}");
}

fn check_random(random: &mut Random, naive: &Naive, searcher: &Searcher, n_queries: usize) {
    for _ in 0..n_queries {
        let depth = random.below(3);
        let query = random.query(depth);
        let expected = naive.ranked(&query);
        let limit = [1, 3, 10, 100, 1_000][random.below(5)];
        let offset = [0, 0, 2][random.below(3)];
        check(searcher, &query, &expected, offset, limit);
    }
}

fn check(searcher: &Searcher, query: &Query, expected: &[(f32, u64)], offset: u64, limit: u64) {
    check_search(&searcher.search(query), query, expected, offset, limit);
}

fn check_search(
    search: &SearchBuilder<'_>,
    query: &Query,
    expected: &[(f32, u64)],
    offset: u64,
    limit: u64,
) {
    let search = || search.clone().limit(limit).fields::<&str>([]);
    let page = search().offset(offset).run().unwrap();
    let uncounted = search().offset(offset).total(TotalMode::Unknown).run().unwrap();
    let mut prepared = search().offset(offset).prepare().unwrap();
    let mut hurried = search().offset(offset).total(TotalMode::Unknown).prepare().unwrap();
    let of_hits = |hits: &[Hit]| hits.iter().map(|hit| (hit.doc, hit.score)).collect::<Vec<_>>();
    for _ in 0..2 {
        let again = prepared.run().unwrap();
        assert_eq!(
            (again.total, of_hits(&again.hits)),
            (page.total, of_hits(&page.hits)),
            "{query}"
        );
        assert_eq!(of_hits(&hurried.run().unwrap().hits), of_hits(&uncounted.hits), "{query}");
    }
    assert_eq!(uncounted.hits, page.hits, "{query}");
    assert_eq!(page.total.value, expected.len() as u64, "{query}");
    let expected = &expected[expected.len().min(offset as usize)..];
    assert_eq!(page.hits.len(), expected.len().min(limit as usize), "{query}");
    let by_doc: BTreeMap<u64, f32> = expected.iter().map(|(score, doc)| (*doc, *score)).collect();
    let scores: Vec<(f32, u64)> =
        page.hits.iter().map(|hit| (hit.score.unwrap(), hit.doc.0)).collect();
    for (nth, (score, doc)) in scores.iter().enumerate() {
        assert!(nearly(*score, expected[nth].0), "{query}: {score} at {nth}, {:?}", expected[nth]);
        let own = by_doc.get(doc).unwrap_or_else(|| panic!("{query}: {doc} does not belong here"));
        assert!(nearly(*score, *own), "{query}: {score} of {doc}, not {own}");
    }
    let in_order = |a: &(f32, u64), b: &(f32, u64)| a.0 > b.0 || a.0 == b.0 && a.1 < b.1;
    assert!(scores.is_sorted_by(in_order), "{query}: {scores:?}");
    if let Some((score, doc)) = scores.first() {
        let explained = search().explainer().score(DocId(*doc)).unwrap().unwrap();
        assert_eq!(explained.value.to_bits(), score.to_bits(), "{query}\n{explained}");
        check_parts(&explained);
        let rest = search().after(After::score(*score, DocId(*doc))).run().unwrap();
        let next = rest.hits.iter().map(|hit| (hit.score.unwrap(), hit.doc.0));
        assert_eq!(next.take(scores.len() - 1).collect::<Vec<_>>(), scores[1..], "{query}");
    }
}

/// Where parts say that they are added or multiplied, they come to the value exactly.
fn check_parts(whole: &Explanation) {
    let parts = || whole.parts.iter().map(|part| part.value);
    let value = match &*whole.what {
        "sum of" => Some(parts().fold(0.0, |sum, part| sum + part)),
        what if what.contains("weight × part") || what.starts_with("weight: boost × idf") => {
            parts().reduce(|product, part| product * part)
        }
        _ => None,
    };
    if let Some(value) = value {
        assert_eq!(value.to_bits(), whole.value.to_bits(), "{whole}");
    }
    whole.parts.iter().for_each(check_parts);
}

/// Found by the queries above: alternatives of which none has to match were taken for a choice of one.
#[test]
fn where_no_alternative_must_match_everything_does() {
    let (_, searcher) = corpus(&mut Random(9), 50, 2);
    let query = searcher.parse("(title:w1 body:w2)~0").unwrap();
    let page = searcher.search(&query).limit(50).run().unwrap();
    assert_eq!((page.total.value, page.hits.len()), (50, 50));
    let matching = searcher.count(&searcher.parse("title:w1 body:w2").unwrap()).unwrap();
    let scored = page.hits.iter().filter(|hit| hit.score > Some(0.0)).count();
    assert!(scored < 50 && scored as u64 == matching, "{scored} of {matching}");
}

#[test]
fn facets_change_neither_the_best_nor_their_scores() {
    let (_, searcher) = corpus(&mut Random(9), 800, 2);
    for text in
        ["+title:w1 body:w2 -body:w0", "title:w3 AND (title:w1 OR body:w2)", "title:\"w0 w1\""]
    {
        let query = searcher.parse(text).unwrap();
        let search = || searcher.search(&query).limit(7).fields::<&str>([]);
        let (without, with) = (search().run().unwrap(), search().facet("title", 3).run().unwrap());
        assert_eq!((without.total, &without.hits), (with.total, &with.hits), "{text}");
        assert!(!with.facets[0].buckets.is_empty() && without.facets.is_empty());
    }
}

#[test]
fn plans_say_how_the_best_of_mixed_queries_are_found() {
    let (_, searcher) = corpus(&mut Random(9), 800, 1);
    let query = searcher.parse("+title:w1 body:w2 -body:w0 title:\"w0 w1\" (body:w3)^=2").unwrap();
    let unwrapped = |plan: String| plan.split_whitespace().collect::<Vec<_>>().join(" ");
    let plan = unwrapped(searcher.explain(&query).unwrap().to_string());
    let way = "BM25, by bounds of 3 terms, 1 phrase, 1 set, put together as in the query";
    assert!(plan.contains(way), "{plan}");
    let tree = searcher.search(&query).analyze().unwrap();
    let ranking = tree.plan.actual.as_ref().unwrap().ranking.as_ref().unwrap();
    assert_eq!((ranking.blocks, ranking.blocks - ranking.blocks_skipped), (1024, 13), "{tree}");
    assert_eq!((ranking.windows, ranking.windows_skipped), (1, 0), "{tree}");
    let run = unwrapped(tree.to_string());
    assert!(run.contains(way) && run.contains("13 of 1,024 blocks, 1 of 1 window"), "{run}");
}

/// The kernel that finds the best of a segment follows from the lists there, and a run tells which it was.
#[test]
fn runs_tell_which_kernels_found_the_best() {
    let index =
        Index::in_memory(Schema::builder().text("t").default_fields(["t"]).build().unwrap());
    let mut writer = index.writer().unwrap();
    for nth in 0..2_000 {
        let mut words = vec![format!("every n{}", nth % 40)];
        words.extend((nth % 2 == 0).then(|| "half".into()));
        words.extend((nth % 20 == 0).then(|| "rare".into()));
        words.extend((nth % 50 == 0).then(|| "rarer".into()));
        words.extend((nth < 1_000 && nth % 3 == 0).then(|| "begins".into()));
        words.extend((nth >= 1_990).then(|| "begins".into()));
        writer.add(Document::new().with("t", words.join(" "))).unwrap();
        if nth == 999 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let many = (0..40).map(|nth| format!("n{nth}")).chain(["every".into()]);
    let many = many.collect::<Vec<_>>().join(" ");
    const WHOLE: &str = "score lists whole";
    const BOUNDS: &str = "top-k by bounds";
    for (text, way, rule) in [
        ("rare rarer", "BM25 of 2 terms: documents of short lists", WHOLE),
        ("rare AND half", "BM25 of 2 terms: documents of the shortest list", WHOLE),
        ("rare", "BM25 of 1 term: documents of one short list", WHOLE),
        (&*many, "BM25 of 41 terms: every posting", WHOLE),
        ("half", "BM25 of 1 term: codes of one list", BOUNDS),
        ("half every", "BM25, by bounds of 2 terms", BOUNDS),
        (
            "begins",
            "BM25 of 1 term: codes of one list in 1 segment, documents of one short list in 1 segment",
            BOUNDS,
        ),
        (
            "+half rare",
            "BM25 of 2 terms, put together as in the query: the required word alone, and with others",
            BOUNDS,
        ),
        (
            "half AND (every OR rare)",
            "BM25, by bounds of 3 terms, put together as in the query",
            BOUNDS,
        ),
    ] {
        let query = searcher.parse(text).unwrap();
        let search = || searcher.search(&query).limit(3).total(TotalMode::Unknown);
        let tree = search().analyze().unwrap();
        assert_eq!((&*tree.plan.algorithm, &*tree.plan.decisions[0].rule), (way, rule), "{tree}");
        assert!(tree.plan.decisions[0].accepted, "{tree}");
        // Before a run nobody knows.
        let planned = search().explain().unwrap().plan.algorithm;
        assert!(planned.starts_with("BM25, by bounds of "), "{planned}");
    }
}

#[test]
fn nothing_is_scored_in_document_order() {
    let (_, searcher) = corpus(&mut Random(5), 50, 2);
    let query = searcher.parse("title:w1 OR body:w1").unwrap();
    let hits = searcher.search(&query).order(Order::Document).limit(50).run().unwrap().hits;
    assert!(hits.iter().all(|hit| hit.score.is_none()));
    assert!(hits.is_sorted_by_key(|hit| hit.doc));
}

#[test]
fn parameters_are_checked_and_used() {
    let (_, searcher) = corpus(&mut Random(5), 300, 1);
    let query = searcher.parse("title:w1").unwrap();
    for (k1, b) in [(-1.0, 0.5), (f32::NAN, 0.5), (f32::INFINITY, 0.5), (1.2, 1.5), (1.2, f32::NAN)]
    {
        let error = searcher.search(&query).bm25("title", k1, b).run().unwrap_err();
        assert!(error.to_string().contains("'title'"), "{error}");
    }
    // With k1 0 neither frequency nor length matter, so that every hit has the same score.
    let hits = searcher.search(&query).bm25("title", 0.0, 0.75).limit(300).run().unwrap().hits;
    assert!(hits.len() > 10 && hits.iter().all(|hit| hit.score == hits[0].score));
    let twice = searcher.search(&query).bm25("title", 1.2, 0.75).bm25("title", 0.0, 0.75);
    assert_eq!(twice.limit(300).run().unwrap().hits, hits, "what was said last counts");
}

#[test]
fn matches_are_counted_as_far_as_that_is_asked_for() {
    let mut random = Random(77);
    let (naive, searcher) = corpus(&mut random, 500, 5);
    let mut n_stopped = 0;
    for _ in 0..100 {
        let depth = random.below(3);
        let query = random.query(depth);
        let n_matching = naive.ranked(&query).len() as u64;
        let most = [0, 20, 150][random.below(3)];
        let search = searcher.search(&query).limit(3).fields::<&str>([]);
        let exact = search.clone().run().unwrap();
        let page = search.clone().total(TotalMode::UpTo(most)).run().unwrap();
        assert_eq!(page.hits, exact.hits, "{query}");
        match page.total.relation {
            Relation::Exact => assert_eq!(page.total.value, n_matching, "{query}"),
            Relation::AtLeast => {
                n_stopped += 1;
                assert!(page.total.value >= most.min(n_matching), "{query}: {:?}", page.total);
                assert!(page.total.value <= n_matching, "{query}: {:?}", page.total);
            }
            other => panic!("{query}: {other:?}"),
        }
        let plan = search.total(TotalMode::UpTo(most)).analyze().unwrap();
        for node in plan.plan.iter() {
            // What finding the best left over was not carried out.
            let Some(actual) = &node.actual else { continue };
            assert!(actual.documents <= node.estimate.upper, "{query}\n{plan}");
            assert!(!actual.complete || node.estimate.lower <= actual.documents, "{query}\n{plan}");
        }
    }
    assert!(n_stopped > 5, "{n_stopped}");
}

#[test]
fn of_matches_that_score_no_more_than_others_the_first_suffice() {
    let index = Index::in_memory(Schema::builder().text("title").text("body").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..70_000u32 {
        let document = Document::new().with("title", format!("lamp{}", n % 7));
        writer.add(document.with("body", ["light", "dark"][n as usize % 2])).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    // In two fields: each document scores the most that its fields say.
    for (text, first) in
        [("l*", 0), ("title:lamp3*^2 OR body:l*", 10), ("+body:light^=0 +(title:l* OR body:l*)", 0)]
    {
        let query = searcher.parse(text).unwrap();
        let search = searcher.search(&query).limit(10);
        let (hits, tree) = (search.clone().run().unwrap(), search.clone().analyze().unwrap());
        let ranking = tree.plan.actual.unwrap().ranking.unwrap();
        assert!(ranking.documents_scored < 2_000, "{text}: {ranking:?}");
        assert_eq!(hits.hits[0].doc, DocId(first), "{text}");
        let all = search.limit(70_000).run().unwrap();
        assert_eq!(hits.hits[..], all.hits[..10], "{text}");
    }
}
