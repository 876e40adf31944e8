//! What a plan says it did, counted again by looking at every document.

use std::collections::BTreeSet;
use std::ops::Range;
use treepie::explain::EstimateFrom;
use treepie::explain::{Actual, ExplainNode, ExplainTree};
use treepie::search::TotalMode;
use treepie::{Document, Index, Schema, Searcher};

const N_DOCS: usize = 3_000;

/// The words of every document, and an index of them in so many segments.
struct Corpus {
    texts: Vec<Vec<String>>,
    segments: Vec<Range<usize>>,
    searcher: Searcher,
}

impl Corpus {
    fn new(n_segments: usize) -> Self {
        let index =
            Index::in_memory(Schema::builder().text("text").keyword("tag").build().unwrap());
        let mut writer = index.writer().unwrap();
        let mut random = 11_u64;
        let mut below = move |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            (random >> 33) % n
        };
        let mut texts = vec![];
        let mut segments = vec![];
        for nth in 0..n_segments {
            let start = texts.len();
            for _ in 0..N_DOCS / n_segments {
                let mut words: Vec<String> = vec![];
                for _ in 0..3 + below(40) {
                    // Small numbers are frequent; "san" is followed by "marino" or nobody.
                    let most = [4, 30, 900][below(3) as usize];
                    words.push(format!("w{}", below(most)));
                    if below(25) == 0 {
                        words.extend(["san", "marino"].map(String::from));
                    }
                }
                let document = Document::new().with("text", words.join(" ")).with("tag", "a");
                writer.add(document).unwrap();
                texts.push(words);
            }
            writer.commit().unwrap();
            segments.push(start..texts.len());
            assert_eq!(segments.len(), nth + 1);
        }
        Corpus { texts, segments, searcher: index.searcher().unwrap() }
    }

    /// How many documents are like this.
    fn count(&self, is_so: impl Fn(&[String]) -> bool) -> u64 {
        self.texts.iter().filter(|words| is_so(words)).count() as u64
    }

    fn with_all(&self, wanted: &[&str]) -> u64 {
        self.count(|words| wanted.iter().all(|word| has(words, word)))
    }

    fn with_any(&self, wanted: &[&str]) -> u64 {
        self.count(|words| wanted.iter().any(|word| has(words, word)))
    }

    fn with_phrase(&self, phrase: &[&str]) -> u64 {
        self.count(|words| words.windows(phrase.len()).any(|window| window == phrase))
    }

    /// Terms of all segments that are like this; one that two segments have is one of each.
    fn terms(&self, is_so: impl Fn(&str) -> bool) -> u64 {
        let of_segment = |segment: &Range<usize>| {
            let words = self.texts[segment.clone()].iter().flatten().map(String::as_str);
            words.collect::<BTreeSet<_>>().into_iter().filter(|term| is_so(term)).count() as u64
        };
        self.segments.iter().map(of_segment).sum()
    }
}

fn has(words: &[String], wanted: &str) -> bool {
    words.iter().any(|word| word == wanted)
}

fn actual(node: &ExplainNode) -> &Actual {
    node.actual.as_ref().unwrap()
}

fn only<'t>(tree: &'t ExplainTree, operator: &str) -> &'t ExplainNode {
    let mut found = tree.plan.iter().filter(|node| node.operator.name() == operator);
    let node = found.next().unwrap_or_else(|| panic!("no {operator} in {tree}"));
    assert!(found.next().is_none(), "two of {operator} in {tree}");
    node
}

/// What holds of every plan that ran.
fn check_bounds(tree: &ExplainTree) {
    for node in tree.plan.iter() {
        let (e, Some(a)) = (&node.estimate, &node.actual) else { continue };
        assert!(a.documents <= e.upper, "{} of\n{tree}", node.label);
        assert!(!a.complete || a.documents >= e.lower, "{} of\n{tree}", node.label);
    }
}

#[test]
fn the_best_by_score_are_found_with_what_the_plan_says() {
    for corpus in [Corpus::new(1), Corpus::new(3)] {
        let n_windows = corpus.segments.len() as u64;
        let cases: [(&str, &[&str], bool); 6] = [
            ("w1", &["w1"], true),
            ("w500", &["w500"], true),
            ("w1 w20 w300", &["w1", "w20", "w300"], true),
            ("+w1 +w2", &["w1", "w2"], false),
            ("+w3 +w700", &["w3", "w700"], false),
            ("+w1 +san", &["w1", "san"], false),
        ];
        for (text, words, any) in cases {
            let query = corpus.searcher.parse(text).unwrap();
            let matching = if any { corpus.with_any(words) } else { corpus.with_all(words) };
            for k in [1, 10, 200] {
                let search = || corpus.searcher.search(&query).limit(k);
                let tree = search().analyze().unwrap();
                check_bounds(&tree);
                let hits = search().run().unwrap().hits;
                let top = actual(&tree.plan);
                assert_eq!(tree.plan.operator.name(), "TopK");
                assert_eq!(top.documents, hits.len() as u64);
                assert_eq!(top.documents_in, Some(matching), "{tree}");
                let ranking = top.ranking.as_ref().unwrap();
                let scored = ranking.documents_scored;
                assert!((top.documents..=matching).contains(&scored), "{scored} of {text}\n{tree}");
                // Each document has one of the words at least, and all of them where all must match.
                let postings = ranking.postings.unwrap();
                let per_document = if any { 1 } else { words.len() as u64 };
                let most = words.len() as u64 * scored;
                assert!((per_document * scored..=most).contains(&postings), "{tree}");
                assert!(ranking.windows <= n_windows && ranking.windows_skipped <= ranking.windows);
                assert!(ranking.blocks <= 1024 * n_windows * words.len() as u64, "{tree}");
                assert!(ranking.blocks_skipped <= ranking.blocks);
                // Every block that is looked into has at most 64 documents.
                let blocks = ranking.blocks - ranking.blocks_skipped;
                assert!(ranking.windows == 0 || blocks == 0 || scored <= 64 * blocks + 3 * 255);

                let rises = &ranking.thresholds;
                assert!(rises.is_sorted_by(|a, b| a.documents < b.documents && a.score < b.score));
                let worst = hits.get(k as usize - 1).and_then(|hit| hit.score);
                assert_eq!(rises.last().map(|rise| rise.score), worst, "{tree}");
                assert!(rises.iter().all(|rise| rise.documents <= scored), "{tree}");
                // Both ways have a price.
                let decision = &tree.plan.decisions[0];
                let other = decision.alternative.as_ref().unwrap();
                assert!(decision.estimated_cost_ns.unwrap() > 0, "{tree}");
                assert!(decision.estimated_cost_ns <= other.estimated_cost_ns, "{tree}");
            }
            for leaf in tree_of_count(&corpus, text).plan.iter() {
                if let Some(word) = leaf.label.strip_prefix("text:") {
                    let read = actual(leaf).documents;
                    if leaf.operator.name() == "TermScan" {
                        assert_eq!(read, corpus.with_any(&[word]), "{}", leaf.label);
                    }
                }
            }
        }
    }
}

fn tree_of_count(corpus: &Corpus, text: &str) -> ExplainTree {
    let query = corpus.searcher.parse(text).unwrap();
    let tree = corpus.searcher.search(&query).count_only().analyze().unwrap();
    check_bounds(&tree);
    tree
}

#[test]
fn words_of_phrases_are_placed_where_the_plan_says() {
    for corpus in [Corpus::new(1), Corpus::new(3)] {
        for words in [&["san", "marino"][..], &["w0", "w1"], &["w0", "w0"], &["w2", "w3", "w1"]] {
            let text = format!("\"{}\"", words.join(" "));
            let with_words = corpus.with_all(words);
            let matching = corpus.with_phrase(words);
            assert!(matching > 0);

            let tree = tree_of_count(&corpus, &text);
            let phrase = only(&tree, "Phrase");
            assert_eq!(actual(phrase).documents, matching);
            assert_eq!(actual(phrase).documents_in, Some(with_words));
            let placed = actual(phrase).positions.unwrap();
            assert_eq!(placed.candidates, with_words, "{tree}");
            assert!(placed.positions >= with_words, "{tree}");
            assert!(actual(phrase).bytes_read > 0, "{tree}");
            let ids = tree.segments.iter().map(|segment| &segment.id);
            let of_phrase = phrase.segments.iter().map(|segment| &segment.id);
            assert!(phrase.segments.is_empty() || of_phrase.eq(ids), "{tree}");
            // What a sample says is not far off where there are many.
            let source = &phrase.estimate.source;
            assert!(source.ends_with(" documents with the words"), "{source}");
            assert!(phrase.q_error().unwrap() < 3.0, "{tree}");

            let query = corpus.searcher.parse(&text).unwrap();
            let search = || corpus.searcher.search(&query).limit(5);
            for total in [TotalMode::Exact, TotalMode::Unknown] {
                let tree = search().total(total).analyze().unwrap();
                let hits = search().total(total).run().unwrap().hits;
                let top = actual(&tree.plan);
                let ranking = top.ranking.as_ref().unwrap();
                let (candidates, placed) = (ranking.candidates.unwrap(), top.positions.unwrap());
                let skipped = candidates.skipped_by_blocks + candidates.skipped_by_frequencies;
                assert_eq!(placed.candidates + skipped, candidates.found, "{tree}");
                if total == TotalMode::Exact {
                    assert_eq!((candidates.found, skipped), (with_words, 0), "{tree}");
                    assert!(!tree.plan.decisions[0].accepted, "{tree}");
                } else {
                    assert!(candidates.found <= with_words);
                    assert!(tree.plan.decisions[0].accepted, "{tree}");
                }
                assert!((5..=matching).contains(&ranking.documents_scored), "{tree}");
                let worst = ranking.thresholds.last().map(|rise| rise.score);
                assert_eq!(worst, hits[4].score, "{tree}");
            }
            // With a facet everything that matches is scored.
            let tree = search().facet("tag", 1).analyze().unwrap();
            let ranking = actual(&tree.plan).ranking.as_ref().unwrap();
            assert_eq!(ranking.documents_scored, matching, "{tree}");
            assert_eq!(tree.plan.algorithm, "BM25 of every match");
        }
    }
}

#[test]
fn where_nothing_can_match_nothing_is_weighed() {
    let corpus = Corpus::new(1);
    let query = corpus.searcher.parse("+absent +w1").unwrap();
    let tree = corpus.searcher.search(&query).analyze().unwrap();
    assert_eq!(tree.plan.operator.name(), "TopK");
    assert!(tree.plan.decisions.is_empty(), "{tree}");
    let ranking = actual(&tree.plan).ranking.as_ref().unwrap();
    assert_eq!((ranking.documents_scored, ranking.thresholds.len()), (0, 0));
}

#[test]
fn terms_of_patterns_are_those_of_the_plan() {
    for corpus in [Corpus::new(1), Corpus::new(3)] {
        type IsMeant = fn(&str) -> bool;
        let cases: [(&str, IsMeant, IsMeant); 4] = [
            ("w7*", |term| term.starts_with("w7"), |term| term.starts_with("w7")),
            ("w?5", |term| term.len() == 3 && term.ends_with('5'), |term| term.starts_with('w')),
            (
                "/w[0-3]+/",
                |term| !term.contains(['4', '5', '6', '7', '8', '9', 's']),
                |term| term.starts_with('w'),
            ),
            (
                "[w10 TO w2}",
                |term| ("w10".."w2").contains(&term),
                |term| ("w10".."w2").contains(&term),
            ),
        ];
        for (text, is_meant, is_near) in cases {
            let tree = tree_of_count(&corpus, text);
            let expansion = only(&tree, "Expand");
            let terms = actual(expansion).terms.unwrap();
            let expanded = corpus.terms(|term| term != "marino" && is_meant(term));
            assert_eq!(terms.expanded, expanded, "{tree}");
            assert!(actual(expansion).bytes_read > 0, "{tree}");
            let most = corpus.terms(is_near) + corpus.segments.len() as u64;
            assert!((expanded..=most).contains(&terms.visited), "{most} at most\n{tree}");
            assert!(!terms.cut);
            let matching =
                corpus.count(|words| words.iter().any(|word| word != "marino" && is_meant(word)));
            assert_eq!(actual(expansion).documents, matching, "{tree}");
        }
    }
}

#[test]
fn a_phrase_of_words_that_keep_company_is_estimated_by_a_sample() {
    // Two words in a tenth of the documents, the same ones: ten times as many as by independence, and of
    // these, half have the phrase.
    let index = Index::in_memory(Schema::builder().text("text").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..20_000 {
        let text = match n % 20 {
            0 => "united states",
            10 => "states united",
            _ => "nobody",
        };
        writer.add(Document::new().with("text", text)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("\"united states\"").unwrap();
    let search = || searcher.search(&query);
    let explained = search().explainer().estimate_from(EstimateFrom::Samples).explain().unwrap();
    for plan in [explained, search().analyze().unwrap()] {
        let documents = only(&plan, "Phrase").estimate.documents;
        assert!((900..=1_100).contains(&documents), "{plan}");
        assert_eq!(only(&plan, "Intersect").estimate.documents, 2_000, "{plan}");
    }
    // What is not in the sample is rare and not impossible.
    let query = searcher.parse("\"united nobody\" OR \"states states\"").unwrap();
    let sampled =
        searcher.search(&query).explainer().estimate_from(EstimateFrom::Samples).explain().unwrap();
    assert!(sampled.plan.estimate.documents <= 20, "{sampled}");
}
