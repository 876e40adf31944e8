//! Offsets: a field that keeps them is marked as one that does not, from the index instead of from the text.

use std::sync::Arc;

use proptest::prelude::*;
use treepie::analysis::tokenizer_api::{Token, TokenStream, Tokenizer};
use treepie::analysis::{Analyzer, Analyzers, Synonyms};
use treepie::highlight::{Passage, PassageOptions};
use treepie::storage::MemoryStorage;
use treepie::{DocId, Document, Field, FieldKind, Index, Schema, Searcher, WriterOptions};

/// Analyzers whose words are all kept.
const ANALYZERS: &[&str] = &[
    "default",
    "words|lower|fold|stop:en",
    "whitespace",
    "keyword|lower",
    "ngram:2,3|lower",
    "edge_ngram:1,4",
    "cjk",
    "alphanumeric|lower|length:2,4",
    #[cfg(feature = "stem")]
    "english",
    "odd",
];

/// Gives each word in two halves and then as a whole, at one position, and lies about where the last one ends.
#[derive(Clone)]
struct Odd;

struct OddStream {
    tokens: std::vec::IntoIter<Token>,
    token: Token,
}

impl Tokenizer for Odd {
    type TokenStream<'a> = OddStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> OddStream {
        let (mut tokens, mut at) = (vec![], 0);
        for (position, word) in text.split(' ').enumerate() {
            let half =
                (0..=word.len() / 2).rev().find(|half| word.is_char_boundary(*half)).unwrap();
            let parts =
                if word.starts_with('b') { vec![0..half, half..word.len()] } else { vec![] };
            for part in parts.into_iter().chain(std::iter::once(0..word.len())) {
                let (offset_from, offset_to) = (at + part.start, at + part.end);
                let text = word[part].to_owned();
                tokens.push(Token { offset_from, offset_to, position, text, ..Token::default() });
            }
            at += word.len() + 1;
        }
        if let Some(last) = tokens.last_mut().filter(|last| last.text == "C") {
            last.offset_to += 5;
        }
        OddStream { tokens: tokens.into_iter(), token: Token::default() }
    }
}

impl TokenStream for OddStream {
    fn advance(&mut self) -> bool {
        let next = self.tokens.next();
        let is_one = next.is_some();
        self.token = next.unwrap_or_default();
        is_one
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

fn analyzers() -> Analyzers {
    let rules = Synonyms::parse("ab, a b\nc => e", &Analyzer::default()).unwrap();
    let analyzers = Analyzers::default().register(Analyzer::new("odd", Odd));
    analyzers.synonyms("with", rules.clone()).synonyms("without", rules)
}

fn field(name: &str, analyzer: &str, gap: u16) -> Field {
    Field::new(name, FieldKind::Text).many(true).analyzer(analyzer).position_gap(gap)
}

/// Documents with the same values in a field with offsets and in one without, in segments of two.
fn index(analyzer: &str, gap: u16, documents: &[Vec<String>]) -> Index {
    let schema = Schema::builder()
        .field(field("with", analyzer, gap).offsets(true))
        .field(field("without", analyzer, gap))
        .build()
        .unwrap();
    let options = Index::options().analyzers(analyzers());
    let index = options.create_in(Arc::new(MemoryStorage::new()), schema).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for segment in documents.chunks(2) {
        for values in segment {
            let mut document = Document::new();
            for value in values {
                document.push("with", value.as_str());
                document.push("without", value.as_str());
            }
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
    }
    index
}

/// The passages of all values of a document's field.
fn passages(
    searcher: &Searcher,
    query: &str,
    field: &str,
    doc: u64,
    values: &[String],
    options: &PassageOptions,
) -> Vec<Vec<Passage>> {
    let query = searcher.parse(&query.replace('@', field)).unwrap();
    let highlighter = searcher.highlighter(&query).unwrap();
    let values = values.iter().map(String::as_str);
    let marked = highlighter.in_document(DocId(doc), field, values).unwrap();
    marked.iter().map(|marked| marked.passages(options)).collect()
}

const QUERIES: &[&str] = &[
    "@:a",
    "@:(a b c e)",
    "@:\"a b\"",
    "@:\"a b\"~2 @:ab",
    "@:\"b a b\"~<>3 -@:c",
    "@:\"a e\"~>2",
    "@:\"c a\"*",
    "@:a* @:é",
    "@:/[a-c]+b?/ AND @:c",
    "@:ab~1",
    "@:[a TO c}",
    "@:東京 OR @:\"東 京\"",
    "@:IN [a the runs]",
    "@:(the b) @:\"b of a\"",
    "@:run",
    "@:* @:fi",
];

fn texts() -> impl Strategy<Value = String> {
    let pieces = vec![
        "a",
        "b",
        "ab",
        "C",
        " ",
        " ",
        ". ",
        "\n",
        "<",
        "é",
        "e\u{301}",
        "東",
        "京。",
        "👩\u{200D}💻",
        "\u{301}",
        "ﬁ",
        "İ",
        " the ",
        " of ",
        " running ",
        "\u{200F}",
        "  a b  ",
    ];
    let pieces = prop::sample::select(pieces);
    let text = |len| prop::collection::vec(pieces.clone(), len).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => text(0..12), 2 => text(200..700)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_marked_is_the_same_with_and_without(
        documents in prop::collection::vec(prop::collection::vec(texts(), 0..4), 1..5),
        analyzer in prop::sample::select(ANALYZERS), gap in prop::sample::select(vec![0, 1, 100, u16::MAX]),
        max_len in 1_usize..200, merged in any::<bool>(),
    ) {
        let index = index(analyzer, gap, &documents);
        if merged {
            index.merge().unwrap();
        }
        let options = PassageOptions::default().max_len(max_len);
        let searcher = index.searcher().unwrap();
        for query in QUERIES {
            for (doc, values) in (0..).zip(&documents) {
                let of = |field| passages(&searcher, query, field, doc, values, &options);
                prop_assert_eq!(of("with"), of("without"), "{} by {} in {:?}", query, analyzer, values);
            }
        }
        let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
        prop_assert!(report.is_sound());
    }
}

/// Of texts that are not those of the document, of the same length, what stands at the same bytes is marked: nothing
/// but the index says what.
#[test]
fn the_text_is_not_analysed_where_offsets_are_kept() {
    let long = " x".repeat(400);
    let documents = [
        vec!["f b".to_owned(), format!("d f b{long}")],
        vec![format!("{long} b f"), "of the f".to_owned()],
        vec![format!("pie{long}")],
    ];
    for analyzer in &ANALYZERS[..3] {
        let index = index(analyzer, 100, &documents);
        for merged in [false, true] {
            if merged {
                index.merge().unwrap();
            }
            let searcher = index.searcher().unwrap();
            let marked = |query: &str, field, doc: usize| -> Vec<Vec<(usize, usize)>> {
                let blank = |value: &String| "-".repeat(value.len());
                let blank: Vec<_> = documents[doc].iter().map(blank).collect();
                let options = PassageOptions::default().max_len(1_000);
                let found = passages(&searcher, query, field, doc as u64, &blank, &options);
                let matches = |found: Vec<Passage>| {
                    let matches = found.iter().flat_map(Passage::matches);
                    matches.map(|range| (range.start, range.end)).collect()
                };
                found.into_iter().map(matches).collect()
            };
            assert_eq!(marked("@:b", "with", 0), [vec![(2, 3)], vec![(4, 5)]]);
            assert_eq!(marked("@:\"d f\"", "with", 0), [vec![], vec![(0, 1), (2, 3)]]);
            assert_eq!(
                marked("@:\"b d\"", "with", 0),
                [vec![], vec![]],
                "no phrase bridges values"
            );
            assert_eq!(marked("@:\"b f\"", "with", 1), [vec![(801, 802), (803, 804)], vec![]]);
            assert_eq!(marked("@:pi*", "with", 2), [vec![(0, 3)]]);
            assert_eq!(marked("@:b", "without", 0), [vec![], vec![]]);
        }
    }
}

/// Where nothing is kept of a document it is analysed, and told as damage nowhere.
#[test]
fn documents_with_words_in_no_order_are_analysed() {
    let documents = [vec!["ab bc".to_owned()], vec!["ab c".to_owned()]];
    let index = index("odd", 100, &documents);
    let searcher = index.searcher().unwrap();
    for (doc, query, expected) in
        [(0, "@:b", "ab [b]c"), (0, "@:bc", "ab [bc]"), (1, "@:ab", "[ab] c")]
    {
        let values = &documents[doc];
        let found =
            passages(&searcher, query, "with", doc as u64, values, &PassageOptions::default());
        assert_eq!(found[0][0].to_plain(&values[0], "[", "]"), expected);
    }
}

#[test]
fn inspection_tells_what_offsets_take() {
    let index = index("default", 100, &vec![vec!["a b".to_owned()]; 3]);
    let report = index.inspect().unwrap().storage().unwrap();
    let parts: Vec<_> = report.parts.iter().filter(|part| part.part == "offsets").collect();
    assert_eq!(parts.len(), 1);
    assert_eq!((parts[0].field.as_deref(), parts[0].count), (Some("with"), 3));
    // Per segment 8 bytes of head and 8 of a group's start, one of its width; per document 6 and a length.
    assert_eq!(parts[0].bytes, 2 * 17 + 3 * 4 + 2);
    assert_eq!(report.parts.iter().map(|part| part.bytes).sum::<u64>(), report.total);
}
