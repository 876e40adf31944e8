//! Analyzers of fields as users meet them: kept by the index, missed only where they are needed, and
//! sound on texts that break programs.

use std::sync::Arc;

use treepie::analysis::{
    Analyzer, Analyzers, Filter, Splitter, TERM_BYTES_MAX, filters, names,
    tokenizer_api::TokenFilter, tokenizers,
};
use treepie::highlight::PassageOptions;
use treepie::storage::MemoryStorage;
use treepie::writer::{BadLines, LineFormat};
use treepie::{DocId, Document, ErrorKind, Field, FieldKind, Index, Result, Schema};

fn text(name: &str) -> Field {
    Field::new(name, FieldKind::Text)
}

fn schema(fields: impl IntoIterator<Item = Field>) -> Schema {
    fields
        .into_iter()
        .fold(Schema::builder(), |builder, field| builder.field(field))
        .build()
        .unwrap()
}

fn lines() -> Analyzers {
    let analyzer = Filter::lower_case().transform(Splitter::keyword());
    Analyzers::default().register(Analyzer::new("lines", analyzer))
}

fn count(index: &Index, query: &str) -> Result<u64> {
    let searcher = index.searcher()?;
    searcher.count(&searcher.parse(query)?)
}

#[test]
fn an_index_keeps_the_analyzers_of_its_fields() {
    let storage = Arc::new(MemoryStorage::new());
    let body = text("body").analyzer("words|lower|fold|stop:en").query_analyzer("words|lower|fold");
    let create =
        Index::options().create_in(storage.clone(), schema([body, text("title")])).unwrap();
    let mut writer = create.writer().unwrap();
    let value = "The Café can't close";
    writer.add(Document::new().with("body", value).with("title", value)).unwrap();
    writer.commit().unwrap();
    let index = Index::options().open_storage(storage).unwrap();
    let body = index.schema().field("body").unwrap();
    assert_eq!(body.analyzer_spec(), "words|lower|fold|stop:en");
    assert_eq!(body.query_analyzer_spec(), "words|lower|fold");
    for (query, n) in [
        ("body:cafe", 1),
        ("body:CAFÉ", 1),
        ("body:can't", 1),
        ("body:can", 0),
        ("body:the", 0),
        ("title:the", 1),
        ("title:cafe", 1),
        ("title:can", 1),
    ] {
        assert_eq!(count(&index, query).unwrap(), n, "{query}");
    }
}

#[test]
fn an_analyzer_that_is_not_registered_is_missed_where_it_is_needed_and_nowhere_else() {
    let storage = Arc::new(MemoryStorage::new());
    let fields = schema([text("address").analyzer("lines"), text("name")]);
    let index = Index::options().analyzers(lines()).create_in(storage.clone(), fields).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("address", "1 A Street").with("name", "Ann")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(count(&index, "address:\"1 a street\"").unwrap(), 1);

    // Without it: opening, the other field, other documents, stored values and merging go on.
    let index = Index::options().open_storage(storage.clone()).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("name", "Bob")).unwrap();
    let error = writer.add(Document::new().with("name", "C").with("address", "2 B")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Analyzer);
    let message = error.to_string();
    for words in ["the field 'address'", "the analyzer 'lines'", "Analyzer::new(\"lines\""] {
        assert!(message.contains(words), "{message}");
    }
    let lines_error =
        writer.add_lines(&b"x\n"[..], &LineFormat::field("address"), BadLines::Skip).unwrap_err();
    assert_eq!(lines_error.to_string(), message);
    writer.add_lines(&b"Dora\n"[..], &LineFormat::field("name"), BadLines::Refuse).unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.added), (3, 2));
    drop(writer);
    assert_eq!(index.merge().unwrap().segments, 1);
    assert_eq!(count(&index, "name:(ann bob dora)").unwrap(), 3);
    assert_eq!(count(&index, "address:*").unwrap(), 1);
    let error = count(&index, "address:x").unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Analyzer, message));

    // With it again, all is found.
    let index = Index::options().analyzers(lines()).open_storage(storage).unwrap();
    assert_eq!(count(&index, "address:\"1 A Street\"").unwrap(), 1);
}

#[test]
fn tokens_that_are_too_long_are_left_out_and_reported() {
    let long = "x".repeat(TERM_BYTES_MAX + 1);
    let fields = [text("plain"), text("short").analyzer("words|length:3")];
    let index = Index::in_memory(schema(fields));
    let mut writer = index.writer().unwrap();
    let value = format!("a {long} b");
    writer.add(Document::new().with("plain", &*value).with("short", "abcd abc")).unwrap();
    assert_eq!(writer.commit().unwrap().tokens_skipped, 2);
    writer.add(Document::new().with("plain", "c")).unwrap();
    assert_eq!(writer.commit().unwrap().tokens_skipped, 0);
    let line = format!("{value}\n{long} {long}\n");
    writer.add_lines(line.as_bytes(), &LineFormat::field("plain"), BadLines::Refuse).unwrap();
    assert_eq!(writer.commit().unwrap().tokens_skipped, 3);
    assert_eq!(count(&index, "plain:a AND plain:b").unwrap(), 2);
    assert_eq!(count(&index, "short:abc").unwrap(), 1);
    assert_eq!(count(&index, "short:abcd").unwrap(), 0);
    assert_eq!(count(&index, &format!("plain:{long}")).unwrap(), 0);
}

#[test]
fn documents_of_no_token_a_million_and_some_that_are_too_long_are_all_found() {
    let long = "y".repeat(TERM_BYTES_MAX + 1);
    let index = Index::in_memory(schema([text("body")]));
    let mut writer = index.writer().unwrap();
    // A million tokens: two words in turn, and a third in the middle of them.
    let half = "tick tock ".repeat(250_000);
    for value in ["", "...", "tick", &format!("{half}boom {half}"), &format!("tick {long} tock")] {
        writer.add(Document::new().with("body", value)).unwrap();
    }
    assert_eq!(writer.commit().unwrap().tokens_skipped, 1);
    drop(writer);
    for is_merged in [false, true] {
        if is_merged {
            index.merge().unwrap();
        }
        let searcher = index.searcher().unwrap();
        let hits = |query: &str| {
            let query = searcher.parse(query).unwrap();
            let hits = searcher.search(&query).run().unwrap().hits;
            hits.iter().map(|hit| (hit.doc.0, hit.score.unwrap())).collect::<Vec<_>>()
        };
        let docs = |query: &str| hits(query).iter().map(|hit| hit.0).collect::<Vec<_>>();
        assert_eq!(docs("body:*"), [0, 1, 2, 3, 4]);
        assert_eq!(docs("boom"), [3]);
        assert_eq!(docs("\"tock boom tick\""), [3]);
        // The token that was left out keeps its place.
        assert_eq!(docs("\"tick tock\""), [3]);
        assert_eq!(docs("\"tick tock\"~1"), [3, 4]);
        // A document of a million tokens has a score like any other, and not the best for a word that it repeats.
        let scores = hits("tick");
        assert_eq!(scores.len(), 3);
        assert!(scores.iter().all(|(_, score)| score.is_finite() && *score > 0.0), "{scores:?}");
    }
}

#[test]
fn naughty_texts_come_back_as_they_were_and_are_marked_in_bounds() {
    let index = Index::in_memory(schema([text("body").analyzer("words|lower|fold")]));
    let mut writer = index.writer().unwrap();
    for value in NAUGHTY {
        writer.add(Document::new().with("body", *value)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for (doc, value) in NAUGHTY.iter().enumerate() {
        let stored = searcher.document(DocId(doc as u64)).unwrap();
        assert_eq!(stored["body"].to_string(), *value);
        // As a query a text is answered or refused with its place, and as words it finds itself.
        if let Err(error) = searcher.parse(value).and_then(|query| searcher.search(&query).run()) {
            assert_eq!(error.kind(), ErrorKind::Query, "{value:?}: {error}");
            assert!(error.span().is_some_and(|span| value.get(span).is_some()), "{value:?}");
        }
        let query = treepie::query::Query::word_in("body", *value);
        let found = searcher.search(&query).limit(100).run().unwrap().hits;
        let analyzer = Analyzer::from_spec("words|lower|fold").unwrap();
        let is_found = found.iter().any(|hit| hit.doc.0 == doc as u64);
        assert_eq!(is_found, !analyzer.clone().tokens(value).is_empty(), "{value:?}");
        let highlighter = searcher.highlighter(&query).unwrap();
        for passage in highlighter.passages("body", value, &PassageOptions::default()) {
            let html = passage.to_html(value);
            assert!(!html.contains("<script"), "{html}");
        }
    }
}

#[test]
fn a_text_of_stop_words_has_no_terms_and_says_so() {
    let index = Index::in_memory(schema([text("body").analyzer("words|lower|stop:en")]));
    let mut writer = index.writer().unwrap();
    for value in ["to be or not to be", "the who", ""] {
        writer.add(Document::new().with("body", value)).unwrap();
    }
    writer.commit().unwrap();
    assert_eq!(count(&index, "body:who").unwrap(), 1);
    assert_eq!(count(&index, "body:*").unwrap(), 3);
    assert_eq!(count(&index, "body:the").unwrap(), 0);
    let searcher = index.searcher().unwrap();
    let plan = searcher.explain(&searcher.parse("the").unwrap()).unwrap().to_string();
    assert!(plan.contains("no term left by the analyzer"), "{plan}");
}

/// Texts that break programs, collected for this test.
const NAUGHTY: &[&str] = &[
    "",
    " ",
    "\0",
    "\u{1}\u{2}\u{7F}\u{80}\u{9F}",
    "\t\n\r\u{B}\u{C}\u{85}\u{2028}\u{2029}",
    "\u{FEFF}byte order mark",
    "\u{FFFE}\u{FFFF}\u{1FFFE}\u{10FFFF}",
    "null NULL nil None undefined NaN -1/0 1e309 0x7FFFFFFF",
    "'; DROP TABLE docs; --",
    "<script>alert('x')</script> &amp; <!-- -->",
    "../../etc/passwd C:\\CON\\NUL %00 $(touch x) `id` ${HOME} {{7*7}}",
    "AND OR NOT TO IN * ? ~ ^ : \\ \" ( ) [ ] { } / + -",
    "''''' \u{2019}s 's s' l' d'l'",
    "e\u{301}e\u{301} \u{301}\u{301}\u{301} a\u{20DD} Z\u{351}\u{36B}\u{343}\u{36A}\u{302}A\u{322}\u{321}",
    "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466} \u{1F1E9}\u{1F1EA}\u{1F1EB} \u{1F44D}\u{1F3FF} 3\u{FE0F}\u{20E3}",
    "שָׁלוֹם עוֹלָם",
    "مُحَمَّدٌ العَرَبِيَّة ﷽ ﷺ",
    "\u{202E}backwards\u{202C} \u{2066}isolated\u{2069} \u{200F}mark\u{200E}",
    "田中さんにあげて下さい パーティーへ行かないか 和製漢語 사회과학원 어학연구소 ｶﾞｷﾞｸﾞ ＡＢＣ",
    "\u{20000}\u{2A6DF}\u{30000} \u{1F5FF} 𝕿𝖍𝖊 𝓺𝓾𝓲𝓬𝓴 ⓣⓗⓔ",
    "İstanbul ıi Iİ ß ẞ ﬁ ﬀ ŉ ǰ ΐ ﬓ ΣΑΣ ς",
    "ไทยที่ไม่มีช่องว่าง ភាសាខ្មែរ မြန်မာ हिन्दी क्षि தமிழ்",
    "½ ² ③ Ⅷ ٣ ३ 一二三 1,000.00 3.14.15 1:2 a.b.c x_y_z",
    "\u{200B}\u{200C}\u{200D}\u{2060}\u{AD}soft\u{AD}hyphen zero\u{200B}width",
    "\u{1F1E6}\u{1F1E6}\u{1F1E6} \u{E0067}\u{E0062} \u{FE0F}",
    "\u{1100}\u{1161}\u{11A8} 각 \u{1100}\u{1100}\u{1100}",
];

#[test]
fn every_analyzer_is_sound_on_every_naughty_text() {
    let mut specs: Vec<String> = names().map(|(name, _)| name.to_owned()).collect();
    let tokenizers: Vec<_> = tokenizers().map(|name| name.replace("MIN,MAX", "2,3")).collect();
    let filters = filters().map(|name| name.replace("MIN,MAX", "2,3").replace("MAX", "3"));
    for filter in filters.chain(["lower|fold|lower".to_owned()]) {
        specs.extend(tokenizers.iter().map(|tokenizer| format!("{tokenizer}|{filter}")));
    }
    specs.extend(tokenizers);
    if !cfg!(feature = "stem") {
        specs.retain(|spec| Analyzer::from_spec(spec).is_ok());
    }
    let whole = NAUGHTY.join(" ");
    for spec in specs {
        let mut analyzer = Analyzer::from_spec(&spec).unwrap();
        for text in NAUGHTY.iter().copied().chain([&*whole]) {
            let mut last = None;
            let mut terms = vec![];
            analyzer.for_each_token(text, |token| {
                // Offsets are of the text, positions do not descend.
                assert!(text.get(token.offset_from..token.offset_to).is_some(), "{spec}: {text:?}");
                assert!(last.is_none_or(|last| token.position >= last), "{spec}: {text:?}");
                last = Some(token.position);
                terms.push(token.term.to_owned());
            });
            assert_eq!(analyzer.tokens(text), terms, "{spec}: a second time, {text:?}");
        }
    }
}

#[test]
fn naughty_texts_are_found_again_by_each_of_their_words() {
    for spec in ["default", "words|lower|fold", "cjk", "ngram:3,3", "whitespace"] {
        let index = Index::in_memory(schema([text("body").analyzer(spec)]));
        let mut writer = index.writer().unwrap();
        for value in NAUGHTY {
            writer.add(Document::new().with("body", *value)).unwrap();
        }
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        let analyzer = Analyzer::from_spec(spec).unwrap();
        for value in NAUGHTY {
            for word in value.split_whitespace().filter(|word| !analyzer.tokens(word).is_empty()) {
                let query = treepie::query::Query::word_in("body", word);
                assert!(searcher.count(&query).unwrap() >= 1, "{spec}: {word:?} of {value:?}");
            }
        }
    }
}
