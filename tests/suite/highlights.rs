//! Whatever finds a document marks something in it, and what finds none marks nothing: in every analyzer, with offsets
//! and without, also where a phrase goes from one value to the next.

use crate::random::Random;
use std::sync::Arc;
use treepie::analysis::{Analyzer, Analyzers, Synonyms, tokenizer_api};
use treepie::query::{Fuzziness, Proximity, Query};
use treepie::search::Order;
use treepie::storage::MemoryStorage;
use treepie::{Document, Field, FieldKind, Index, Schema, Searcher};

/// Words, each with its first letter at the same position, and all in reverse order; a gap behind each `d`.
#[derive(Clone)]
struct Backwards;

struct Tokens(Vec<tokenizer_api::Token>, tokenizer_api::Token);

impl tokenizer_api::Tokenizer for Backwards {
    type TokenStream<'a> = Tokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens {
        let (mut all, mut position, mut at) = (vec![], 0, 0);
        for word in text.split(' ') {
            let token = |len: usize| tokenizer_api::Token {
                offset_from: at,
                offset_to: at + word.len(),
                position,
                text: word[..len].to_owned(),
                position_length: 1,
            };
            if let Some(second) = word.char_indices().nth(1) {
                all.push(token(second.0));
            }
            if !word.is_empty() {
                all.push(token(word.len()));
            }
            position += if word == "d" { 1_000 } else { 1 };
            at += word.len() + 1;
        }
        Tokens(all, tokenizer_api::Token::default())
    }
}

impl tokenizer_api::TokenStream for Tokens {
    fn advance(&mut self) -> bool {
        match self.0.pop() {
            Some(token) => {
                self.1 = token;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &tokenizer_api::Token {
        &self.1
    }

    fn token_mut(&mut self) -> &mut tokenizer_api::Token {
        &mut self.1
    }
}

const ANALYZERS: [&str; 7] = [
    "default",
    "words|lower|stop:en",
    "ngram:1,2",
    "ngram:2,2",
    "edge_ngram:1,9",
    "cjk",
    "backwards",
];

/// One index for each analyzer, with offsets and without.
fn searcher(analyzer: &str, offsets: bool, docs: &[Vec<String>], gap: u16) -> Searcher {
    let field = Field::new("text", FieldKind::Text).analyzer(analyzer).many(true).position_gap(gap);
    let schema = Schema::builder().field(field.offsets(offsets)).build().unwrap();
    let rules = Synonyms::parse("b c, dd", &Analyzer::default()).unwrap();
    let analyzers = Analyzers::default().register(Analyzer::new("backwards", Backwards));
    let analyzers = match analyzer {
        "default" => analyzers.synonyms("text", rules),
        _ => analyzers,
    };
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().analyzers(analyzers).create_in(storage, schema).unwrap();
    let mut writer = index.writer().unwrap();
    for values in docs {
        let mut document = Document::new();
        values.iter().for_each(|value| document.push("text", value.as_str()));
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    index.searcher().unwrap()
}

const WORDS: [&str; 9] = ["a", "b", "c", "d", "bc", "dd", "the", "東京", "京都"];

fn text(random: &mut Random, n_max: usize) -> String {
    let words: Vec<_> = (0..1 + random.below(n_max)).map(|_| WORDS[random.below(9)]).collect();
    words.join(" ")
}

fn query(random: &mut Random) -> Query {
    let slop = random.below(6) as u32;
    let proximity = match random.below(4) {
        0 => Proximity::Exact,
        1 => Proximity::Slop(slop),
        2 => Proximity::Ordered(slop),
        _ => Proximity::Near(slop),
    };
    let word = |random: &mut Random| WORDS[random.below(9)];
    match random.below(8) {
        0 => Query::word(word(random)),
        1 => Query::phrase_prefix(text(random, 3)),
        2 => Query::prefix(word(random)),
        3 => Query::wildcard(format!("{}-?", word(random))),
        4 => {
            let parts = (0..2 + random.below(2)).map(|_| match random.below(5) {
                0 => Query::prefix(word(random)),
                1 => Query::wildcard("?"),
                2 => Query::fuzzy(word(random), Fuzziness::new(1)).unwrap(),
                3 => Query::All,
                _ => Query::word(word(random)),
            });
            Query::phrase_of(parts.collect::<Vec<_>>(), proximity).unwrap()
        }
        _ => Query::near(text(random, 3), proximity),
    }
}

#[test]
fn what_is_found_is_marked_and_nothing_else() {
    let mut random = Random(27);
    for round in 0..12 {
        let docs: Vec<Vec<String>> = (0..40)
            .map(|_| (0..1 + random.below(3)).map(|_| text(&mut random, 4)).collect())
            .collect();
        for analyzer in ANALYZERS {
            let gap = [0, 2, 100][random.below(3)];
            let searchers = [false, true].map(|offsets| searcher(analyzer, offsets, &docs, gap));
            for _ in 0..60 {
                let query = query(&mut random);
                check(&searchers, &query, &docs, &format!("{round} {analyzer} {gap}: {query}"));
            }
        }
    }
}

fn check(searchers: &[Searcher; 2], query: &Query, docs: &[Vec<String>], case: &str) {
    let mut of_both = vec![];
    for searcher in searchers {
        let page = searcher.search(query).order(Order::Document).limit(1_000).run();
        let Ok(page) = page else { return };
        let found: Vec<u64> = page.hits.iter().map(|hit| hit.doc.0).collect();
        let highlighter = searcher.highlighter(query).unwrap();
        let mut all = vec![];
        for (doc, values) in docs.iter().enumerate() {
            let doc = treepie::DocId(doc as u64);
            let values = values.iter().map(String::as_str);
            let marked = highlighter.in_document(doc, "text", values).unwrap();
            let passages = marked.iter().map(|it| it.passages(&Default::default()));
            let matches: Vec<_> =
                passages.map(|passages| passages.first().map(|it| it.matches().to_vec())).collect();
            let is_marked = matches.iter().any(Option::is_some);
            let shows = found.contains(&doc.0);
            assert_eq!(is_marked, shows, "{case} in {:?}", docs[doc.0 as usize]);
            all.push(matches);
        }
        of_both.push(all);
    }
    assert_eq!(of_both[0], of_both[1], "{case}");
}

/// However the characters of its name are composed, as for a search.
#[test]
fn a_field_is_marked_by_either_spelling_of_its_name() {
    let (own, other) = ("gr\u{f6}\u{df}e", "gro\u{308}\u{df}e");
    let words = Field::new("words", FieldKind::Text).copy_of(other).stored(false);
    let field = Field::new(own, FieldKind::Keyword);
    let index = Index::in_memory(Schema::builder().field(field).field(words).build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with(other, "a bc")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let counts = [own, other].map(|name| {
        let query = searcher.parse(&format!("{name}:bc")).unwrap();
        searcher.count(&query.in_copies(searcher.schema()).unwrap()).unwrap()
    });
    assert_eq!(counts, [1, 1]);
    let highlighter = searcher.highlighter(&searcher.parse(&format!("{other}:\"a bc\"")).unwrap());
    let highlighter = highlighter.unwrap();
    for name in [own, other] {
        assert!(highlighter.marks(name));
        assert_eq!(highlighter.passages(name, "a bc", &Default::default()).len(), 1, "{name}");
        let marked = highlighter.in_document(treepie::DocId(0), name, ["a bc"]).unwrap();
        assert_eq!(marked[0].passages(&Default::default()).len(), 1, "{name}");
    }
}
