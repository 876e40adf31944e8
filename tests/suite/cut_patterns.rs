//! Patterns meet the terms of their field: letters as its analyzer leaves them, and cut where its tokenizer cuts.

use std::sync::Arc;
use treepie::analysis::{Analyzer, Analyzers, Filter, Splitter, tokenizer_api::TokenFilter};
use treepie::query::{ParseOptions, parse};
use treepie::schema::Detail;
use treepie::search::Order;
use treepie::storage::MemoryStorage;
use treepie::{Document, Facet, Field, FieldKind, Index, Schema, Searcher};

/// An index of one field with these texts, a document each.
fn searcher(field: Field, texts: &[&str]) -> Searcher {
    let lines = Filter::lower_case().transform(Splitter::keyword());
    let folded =
        Filter::fold_diacritics().transform(Filter::lower_case().transform(Splitter::words()));
    let long = Filter::length(3, 99).transform(
        Filter::fold_diacritics().transform(Filter::lower_case().transform(Splitter::words())),
    );
    let analyzers = Analyzers::default()
        .register(Analyzer::new("lines", lines))
        .register(Analyzer::new("long", long))
        .register(Analyzer::new("plugged", folded));
    let schema = Schema::builder().field(field).build().unwrap();
    let index = Index::options()
        .analyzers(analyzers)
        .create_in(Arc::new(MemoryStorage::new()), schema)
        .unwrap();
    let mut writer = index.writer().unwrap();
    for text in texts {
        writer.add(Document::new().with("text", *text)).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    index.searcher().unwrap()
}

fn text(analyzer: &str) -> Field {
    Field::new("text", FieldKind::Text).analyzer(analyzer)
}

fn hits(searcher: &Searcher, query: &str) -> Vec<u64> {
    let query = parse(query, &ParseOptions::default()).unwrap();
    let page = searcher.search(&query).order(Order::Document).limit(100).run().unwrap();
    page.hits.iter().map(|hit| hit.doc.0).collect()
}

#[track_caller]
fn finds(searcher: &Searcher, cases: &[(&str, &[u64])]) {
    for (query, expected) in cases {
        assert_eq!(hits(searcher, query), *expected, "{query}");
        // Of what is found something is marked.
        let query = parse(query, &ParseOptions::default()).unwrap();
        let highlighter = searcher.highlighter(&query).unwrap();
        for doc in *expected {
            let doc = treepie::DocId(*doc);
            let fields = searcher.document(doc).unwrap();
            let marked = highlighter.in_document(doc, "text", fields["text"].texts()).unwrap();
            let is_marked = marked.iter().any(|it| !it.passages(&Default::default()).is_empty());
            assert!(is_marked, "{query} in {doc:?}");
        }
    }
}

#[test]
fn letters_of_patterns_are_folded_as_those_of_words() {
    let texts = ["Übung, naïve", "Straße nach Łódź", "x ubung now"];
    for analyzer in ["words|lower|fold", "words|fold|lower|stop:de"] {
        let searcher = searcher(text(analyzer), &texts);
        finds(
            &searcher,
            &[
                ("üb?ng", &[0, 2]),
                ("ÜB*G", &[0, 2]),
                ("u\u{308}b?ng", &[0, 2]),
                ("naïv?", &[0]),
                ("NAÏ*", &[0]),
                ("*ßE", &[1]),
                ("stra?e", &[]),
                ("stra??e", &[1]),
                ("?ódź", &[1]),
                ("ŁÓ*", &[1]),
                ("łódx~1", &[1]),
                ("PHRASE [ÜB?NG NAÏ*]", &[0]),
                ("PHRASE [?traße nach łó*]", &[1]),
                ("PHRASE [x IN [Übung Łódź]]", &[2]),
                ("\"übung naï\"*", &[0]),
                ("[ÜBA TO ÜBZ]", &[0, 2]),
                ("[ŁO TO ŁÓE]", &[1]),
                ("IN [ÜBUNG ŁÓDŹ]", &[0, 1, 2]),
            ],
        );
    }
    // In a field that does not fold they are what they are, but for case.
    let plain = searcher(text("words|lower"), &texts);
    finds(&plain, &[("ÜB?NG", &[0]), ("ub?ng", &[2]), ("STRA??E", &[1])]);
    let exact = searcher(text("words"), &texts);
    finds(&exact, &[("Üb?ng", &[0]), ("üb?ng", &[]), ("Stra*", &[1]), ("stra*", &[])]);
    let keyword = searcher(Field::new("text", FieldKind::Keyword), &texts);
    let wild = |query: &str| hits(&keyword, &format!("text:{query}"));
    assert_eq!((wild("Üb*"), wild("üb*"), wild("Üb?ng*e")), (vec![0], vec![], vec![0]));
}

#[test]
fn letters_of_regular_expressions_are_folded_as_those_of_words() {
    let texts = ["Übung, naïve", "Straße nach Łódź", "x ubung now"];
    for analyzer in ["default", "words|lower|fold", "words|fold|lower|stop:de", "plugged"] {
        let searcher = searcher(text(analyzer), &texts);
        finds(
            &searcher,
            &[
                ("/übung/", &[0, 2]),
                ("/ÜB.*/", &[0, 2]),
                ("/u\u{308}b.{2}G/", &[0, 2]),
                ("/na[ïi]ve/", &[0]),
                ("/NA[ÏË]VE/", &[0]),
                ("/stra(ß|x)e/", &[1]),
                ("/straß{1}e/", &[1]),
                ("/stra[ßx]e/", &[1]),
                ("/[Ä-Ü]b[A-Z]+/", &[0, 2]),
                ("/[^ÜX].*/", &[0, 1, 2]),
                ("/[^Ü]bung/", &[]),
                ("/\\p{Lu}{4}/", &[1]),
                ("/(?i)Ł[óo]DŹ/", &[1]),
                ("/\\w{5}/", &[0, 2]),
                ("PHRASE [/ÜB.*/ /NAÏ.*/]", &[0]),
            ],
        );
    }
    let plain = searcher(text("words|lower"), &texts);
    finds(&plain, &[("/ÜB.NG/", &[0]), ("/ub.ng/", &[2]), ("/STRA[ß]E/", &[1])]);
    let exact = searcher(text("words"), &texts);
    finds(&exact, &[("/Üb.*/", &[0]), ("/üb.*/", &[])]);
    let keyword = searcher(Field::new("text", FieldKind::Keyword), &texts);
    let found = |query: &str| hits(&keyword, &format!("text:{query}"));
    assert_eq!((found("/Üb.*/"), found("/üb.*/"), found("/[ÜX].*/")), (vec![0], vec![], vec![0]));
    let normal = Field::new("text", FieldKind::Keyword).normalizer("lower|fold");
    let normal = searcher(normal, &texts);
    let found = |query: &str| hits(&normal, &format!("text:{query}"));
    assert_eq!((found("/ÜB.*/"), found("/[ÜX].*/"), found("/ub/")), (vec![0], vec![0, 2], vec![]));
}

/// Tokenizers that leave short words out, and filters that are not known.
#[test]
fn letters_of_patterns_are_those_of_a_plugged_in_analyzer() {
    let texts = ["Übung", "à côté", "ubung"];
    let searcher = searcher(text("long"), &texts);
    finds(
        &searcher,
        &[
            ("üb?ng", &[0, 2]),
            ("Üb*", &[0, 2]),
            ("u\u{308}b?ng", &[0, 2]),
            ("/ÜB.*/", &[0, 2]),
            ("c?té", &[1]),
            ("*ÔTÉ", &[1]),
        ],
    );
}

#[test]
fn articles_and_possessives_are_taken_off_patterns_as_off_words() {
    let texts = ["l'avion", "aujourd'hui", "john's", "the queens"];
    let french = searcher(text("words|lower|elision:fr"), &texts);
    let english = searcher(text("words|lower|possessive"), &texts);
    let cases: &[(&str, &[u64])] = &[
        ("l'av?on", &[0]),
        ("L’AV?ON", &[0]),
        ("l'?vion", &[0]),
        ("l'*n", &[0]),
        ("l'av*", &[0]),
        ("aujourd'h?i", &[1]),
        ("/l'av.on/", &[0]),
        ("/(l'|d')?avion/", &[0]),
        ("PHRASE [l'av?on]", &[0]),
    ];
    finds(&french, cases);
    let cases: &[(&str, &[u64])] = &[
        ("jo?n's", &[2]),
        ("JO?N’S", &[2]),
        ("j*n's", &[2]),
        ("joh?'s", &[2]),
        ("/jo.n's/", &[2]),
        ("qu?ens", &[3]),
    ];
    finds(&english, cases);
    let note = |query: &str| {
        let plan = french.explain(&french.parse(query).unwrap()).unwrap();
        plan.notes.iter().any(|note| note.contains("no term that begins with 'l''"))
    };
    assert!(note("l'*") && note("/l'.*/") && !note("l'av*") && !note("l'av?on"));
}

#[test]
fn a_stop_word_may_be_the_beginning_of_another_word() {
    let texts = ["the theater of war", "king of thebes", "often off"];
    let searcher = searcher(text("words|lower|stop:en"), &texts);
    finds(
        &searcher,
        &[
            ("the*", &[0, 1]),
            ("THE*", &[0, 1]),
            ("of*", &[2]),
            ("the~1", &[]),
            ("theb~2", &[1]),
            ("PHRASE [king of the*]", &[1]),
            ("\"king of the\"*", &[1]),
            ("king AND the*", &[1]),
        ],
    );
}

#[test]
fn values_of_a_text_facet_are_filtered_as_its_terms_are() {
    let searcher = searcher(text("words|lower|fold"), &["Übung Überall", "unter"]);
    let query = searcher.parse("*").unwrap();
    let counts = |facet: Facet| -> Vec<String> {
        let mut page = searcher.search(&query).with_facet(facet).run().unwrap();
        page.facets.remove(0).buckets.into_iter().map(|bucket| bucket.value.to_string()).collect()
    };
    assert_eq!(counts(Facet::values("text").prefix("Üb").into()), ["uberall", "ubung"]);
    assert_eq!(counts(Facet::values("text").containing("ÜBU").into()), ["ubung"]);
    assert_eq!(counts(Facet::values("text").matching("Ü(B|X).*G").into()), ["ubung"]);
    assert_eq!(counts(Facet::values("text").matching("[ÜX].*").into()).len(), 3);
}

const FILES: [&str; 8] = [
    "report.pdf",
    "an x-ray of bob",
    "bob@example.com",
    "a.box c",
    "the pdf report",
    "3.14 is pi",
    "xray",
    "report",
];

#[test]
fn patterns_are_cut_where_the_tokenizer_cuts() {
    let loose = text("default").detail(Detail::Frequencies);
    let cases: &[(&str, &[u64])] = &[
        ("*.pdf", &[0, 4]),
        ("*.PDF", &[0, 4]),
        ("*.p?f", &[0, 4]),
        ("rep*.pdf", &[0]),
        ("x-r?y", &[1]),
        ("x-r*", &[1]),
        ("*-ray", &[1]),
        ("x?ray", &[]),
        ("*@example.com", &[2]),
        ("b?b@ex*.com", &[2]),
        ("a.b*x", &[3]),
        ("a.b*c", &[]),
        ("report.*", &[0, 4, 7]),
        ("report.p*", &[0]),
        ("3.1?", &[5]),
        ("?.14", &[5]),
        ("PHRASE [x-r?y of]", &[1]),
        ("PHRASE [an x-r?y of b?b]", &[1]),
        ("+*.pdf +report", &[0, 4]),
        ("bob AND *-*", &[1, 2]),
        ("bob AND *.*", &[1, 2]),
    ];
    finds(&searcher(text("default"), &FILES), cases);
    finds(&searcher(text("default").offsets(true), &FILES), cases);
    // Without positions all parts must be there.
    finds(&searcher(loose, &FILES), &[&cases[4..7], &[("rep*.pdf", &[0, 4][..])]].concat());
    // Where a tokenizer keeps the character, the pattern is that of one term.
    for analyzer in ["whitespace", "whitespace|lower", "lines"] {
        let searcher = searcher(text(analyzer), &FILES);
        finds(&searcher, &[("*.pdf", &[0]), ("*@example.com", &[2]), ("rep*.p?f", &[0])]);
    }
    // A full stop between letters is part of a word here, and between a digit and a letter it is not.
    let words = searcher(text("words|lower"), &[&FILES[..], &["2024.pdf"]].concat());
    finds(
        &words,
        &[
            ("*.pdf", &[0, 4, 8]),
            ("3.1?", &[5]),
            ("x-r?y", &[1]),
            ("*@example.com", &[2]),
            ("b?b@ex*.com", &[2]),
        ],
    );
    // Literal parts are words: stemmed, and left out where they are stop words.
    if Analyzer::from_spec("english").is_err() {
        return;
    }
    let english = searcher(text("english"), &["running-shoes", "state of the art", "run a shoe"]);
    finds(&english, &[("running-sh*", &[0]), ("st?te-of-the-art", &[1])]);
}

#[test]
fn bigrams_are_patterns_and_phrases_of_patterns() {
    let searcher = searcher(text("cjk"), &["東京都", "東 都", "京都 ab-cd"]);
    finds(
        &searcher,
        &[("東?", &[0, 1]), ("?都", &[0, 1, 2]), ("東?都", &[0]), ("*-cd", &[2]), ("a?-cd", &[2])],
    );
    let grams = self::searcher(text("ngram:3,3"), &["barman", "bartman"]);
    finds(&grams, &[("b?r", &[0, 1]), ("b?rm", &[0]), ("?arma?", &[0])]);
}

#[test]
fn what_a_pattern_was_read_as_is_told() {
    let note = |analyzer: &str, query: &str| {
        let searcher = searcher(text(analyzer), &FILES);
        let plan = searcher.explain(&searcher.parse(query).unwrap()).unwrap();
        let mut notes = plan.notes;
        notes.retain(|note| !note.starts_with("every match scores"));
        notes.join("; ")
    };
    for (analyzer, query, expected) in [
        ("default", "pdf*", ""),
        ("default", "*pdf", ""),
        ("default", "*", ""),
        ("default", "**", ""),
        ("default", "*.pdf", "'*.pdf' is several words in 'text', so it is looked up as text:pdf"),
        (
            "default",
            "x-r?y",
            "'x-r?y' is several words in 'text', so it is looked up as text:PHRASE [x r?y]",
        ),
        ("default", "*.*", "'*.*' has no letter or digit to find in 'text', so it matches nothing"),
        ("default", "…*", "'…*' has no letter or digit to find in 'text', so it matches nothing"),
        (
            "ngram:2,3",
            "barm?n",
            "'barm?n' is several words in 'text', so it is looked up as text:PHRASE [bar * * m?n]",
        ),
        ("default", "/x-ray/", "the analyzer of 'text' cuts words at '-', so none matches /x-ray/"),
        ("default", "/X.*/", ""),
        (
            "default",
            "/東京都.*/",
            "the analyzer of 'text' makes no term that begins with '東京都', so none matches /東京都.*/",
        ),
        ("default", "/x.ray/", ""),
        ("default", "/(x-|y)ray/", ""),
        ("default", "/x-?ray/", ""),
        ("default", "/x\\-?ra[y-]/", ""),
        ("whitespace", "/x-ray/", ""),
        ("words", "/3\\.14/", ""),
    ] {
        assert_eq!(note(analyzer, query), expected, "{analyzer}: {query}");
    }
}
