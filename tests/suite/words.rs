//! Words in the spellings of people: case, accents, widths, apostrophes, scripts without spaces. The terms of
//! documents and those of queries meet whatever the spelling, and what is marked is what was found.

use std::path::Path;

use treepie::analysis::{Analyzer, names};
use treepie::highlight::PassageOptions;
use treepie::query::Query;
use treepie::search::Order;
use treepie::{Document, Field, FieldKind, Index, Schema};

/// An index with one text field.
fn index(spec: &str, texts: &[&str]) -> Index {
    let field = Field::new("t", FieldKind::Text).analyzer(spec);
    let index = Index::in_memory(Schema::builder().field(field).build().unwrap());
    let mut writer = index.writer().unwrap();
    for text in texts {
        writer.add(Document::new().with("t", *text)).unwrap();
    }
    writer.commit().unwrap();
    index
}

/// How many documents a query finds.
fn count(index: &Index, query: &str) -> u64 {
    let searcher = index.searcher().unwrap();
    searcher.count(&searcher.parse(query).unwrap()).unwrap()
}

fn check(spec: &str, text: &str, found: &[&str], missed: &[&str]) {
    let index = index(spec, &[text, "something else"]);
    for query in found {
        assert_eq!(count(&index, query), 1, "{query} in {text} by {spec}");
    }
    for query in missed {
        assert_eq!(count(&index, query), 0, "{query} in {text} by {spec}");
    }
}

/// What is marked of a text.
fn marked(spec: &str, text: &str, query: &str) -> Vec<String> {
    let index = index(spec, &[text]);
    let searcher = index.searcher().unwrap();
    let query = searcher.parse(query).unwrap();
    let highlighter = searcher.highlighter(&query).unwrap();
    let passages = highlighter.passages("t", text, &PassageOptions::default());
    let places = passages.iter().flat_map(|passage| passage.matches().to_vec());
    places.map(|place| text[place].to_owned()).collect()
}

#[test]
fn the_default_analyzer_folds_case_forms_and_diacritics() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("Zürich", &["zurich", "ZÜRICH", "Zu\u{308}rich", "zürich", "zur*", "zür*"], &["zuerich"]),
        ("ΟΔΥΣΣΕΥΣ", &["οδυσσευς", "Οδυσσεύς", "οδυσσευσ"], &[]),
        ("Straße", &["strasse", "STRASSE", "STRAẞE"], &["strase"]),
        ("İstanbul", &["istanbul", "ISTANBUL", "i\u{307}stanbul"], &[]),
        ("ﬁlä\u{DF}", &["fila\u{308}ss", "FILÄSS", "ﬁläß"], &[]),
        ("Vie\u{323}\u{302}t Nam", &["Việt", "viet", "\"viet nam\""], &[]),
        ("smørrebrød Łódź Þór", &["smorrebrod", "lodz", "thor"], &[]),
        ("ＦＵＬＬ　ｗｉｄｔｈ", &["full", "\"full width\""], &["fullwidth"]),
        ("шёл Её", &["шел", "ее", "\"шел ее\""], &[]),
        ("קָדִימָה مُحَمَّد", &["קדימה", "محمد"], &[]),
        ("½ ℃ №5", &["1", "2", "no5"], &["12"]),
        ("don’t O’Neil", &["don't", "\"don t\"", "O'Neil", "oʼneil"], &["dont"]),
        ("co\u{AD}operate می\u{200C}خواهم", &["cooperate", "میخواهم"], &["co"]),
        ("1️⃣ caf\u{E9}\u{FE0F}", &["1", "cafe"], &[]),
        ("हिन्दी தமிழ்", &["हिन्दी", "தமிழ்"], &["हि", "न"]),
        ("naïve\u{200B}soul", &["naive", "soul"], &["naivesoul"]),
    ];
    for (text, found, missed) in cases {
        check("default", text, found, missed);
    }
    check("alphanumeric", "Zürich", &["Zürich"], &["zurich", "zürich"]);
    check("alphanumeric|lower", "Zürich", &["zürich"], &["zurich"]);
}

#[test]
fn parts_of_texts_without_spaces_are_found() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("黑猫警长", &["黑猫", "猫", "黑", "长", "猫警", "黑猫警长", "警*"], &["猫黑", "黑警"]),
        ("東京都庁", &["東京", "京都", "都庁", "東京都"], &["東都"]),
        (
            "東京2020年オリンピック",
            &["東京", "2020", "2020年", "東京2020", "オリンピック", "リンピ"],
            &["東京年"],
        ),
        (
            "iPhone手机壳abc",
            &["iphone", "手机壳", "手机", "iphone手机", "壳abc", "abc", "手机壳abc"],
            &["手壳", "壳手"],
        ),
        ("ｶﾞｷﾞｸﾞ", &["ガギグ", "カ\u{3099}キ\u{3099}", "ギグ", "ガ"], &["カ", "カギ"]),
        ("カタカナ", &["ｶﾀｶﾅ", "タカ"], &[]),
        (
            "서울시에서 만나요",
            &["서울", "서울시", "시에서", "에", "만나", "\"서울시에서 만나요\"", "서울*", "*에서"],
            &["서에"],
        ),
        ("\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}", &["서울", "서", "울"], &["서우"]),
        ("ซื้อรถใหม่ที่นี่", &["รถ", "รถใหม่", "ที่นี่", "ซื้อ"], &["รม", "ท"]),
        ("ພາສາລາວ", &["ພາສາ", "ລາວ"], &[]),
        ("ភាសាខ្មែរ", &["ភាសា", "ខ្មែរ"], &[]),
        ("မြန်မာစာ", &["မြန်မာ", "စာ"], &[]),
        ("国产手机", &["国产", "\"国产 手机\"", "国产手机", "手"], &["产手机国"]),
        ("㍿テスト", &["株式会社", "会社", "テスト"], &[]),
        ("𠀀𠀁𠀂", &["𠀀𠀁", "𠀁", "𠀁𠀂"], &["𠀀𠀂"]),
    ];
    for (text, found, missed) in cases {
        for spec in ["default", "cjk"] {
            check(spec, text, found, missed);
        }
    }
}

#[test]
fn what_is_marked_is_the_text_as_it_was_given() {
    for (spec, text, query, expected) in [
        ("default", "In Zu\u{308}rich", "zurich", &["Zu\u{308}rich"][..]),
        ("default", "ｶﾞｷﾞ です", "ガギ", &["ｶﾞｷﾞ"]),
        ("default", "上海東京都庁", "東京都", &["東京都"]),
        ("default", "黑猫", "猫", &["猫"]),
        ("default", "서울시에서", "울시", &["울시"]),
        ("default", "ein ﬁläß da", "filass", &["ﬁläß"]),
        ("words|lower", "Mc O’Neil", "O'Neil", &["O’Neil"]),
        ("ngram:2,4", "the barman walks", "barman", &["barman"]),
        ("ngram:2,4|lower|fold", "Die STRAẞE e\u{301}a", "asse", &["AẞE"]),
    ] {
        let joined = marked(spec, text, query).concat();
        assert_eq!(joined, expected.concat(), "{query} in {text} by {spec}");
    }
}

#[test]
fn lower_is_full_case_folding_and_composes() {
    for spec in [
        "words|lower",
        "whitespace|lower",
        "keyword|lower",
        "alphanumeric|lower",
        "ngram:2,30|lower",
    ] {
        for (text, found) in [
            ("ΟΔΥΣΣΕΥΣ", &["οδυσσευς", "Οδυσσευσ"][..]),
            ("Straße", &["STRASSE", "STRAẞE", "strasse"]),
            ("ſchule", &["SCHULE"]),
            ("\u{212A}ELVIN", &["kelvin"]),
            ("ﬁn", &["FIN"]),
            ("ÉCOLE", &["école"]),
        ] {
            check(spec, text, found, &[]);
        }
    }
    for spec in ["words|lower", "whitespace|lower", "keyword|lower", "ngram:2,30|lower"] {
        check(spec, "e\u{301}cole", &["École", "E\u{301}COLE"], &["ecole"]);
        check(spec, "O’Neil", &["O'Neil", "oʼneil", "O‘NEIL", "O＇Neil", "\"O‛Neil\""], &["ONeil"]);
    }
    for spec in ["words|lower", "whitespace|lower", "keyword|lower"] {
        check(
            spec,
            "H\u{331}ALA",
            &["ẖala", "h\u{331}ala", "H\u{331}ala", "ẖ*", "ẖal?"],
            &["hala"],
        );
        check(spec, "ǰana", &["J\u{30C}ANA", "j\u{30C}ana", "/J\u{30C}.*/"], &["jana"]);
    }
    check("words|lower", "ISPARTA İzmir", &["isparta"], &["ısparta", "izmir"]);
    check("words|lower:tr", "ISPARTA İzmir", &["ısparta", "izmir", "İZMİR"], &["isparta"]);
}

#[test]
fn words_keep_apostrophes_in_one_form() {
    for spec in ["words", "whitespace"] {
        check(spec, "don’t O’Neil", &["don't", "don’t", "O'Neil", "OʼNeil"], &["dont"]);
    }
    for spec in ["keyword", "ngram:2,9"] {
        check(spec, "don’t", &["don’t"], &["don't"]);
    }
    for (spec, text, found) in [
        ("english", "the queen’s gambit", &["queen's", "queen", "\"queen’s gambit\""][..]),
        ("english", "‘Bob’s’ hat", &["bob", "Bob's"]),
        ("english", "Ｏ＇Ｎｅｉｌ", &["O'Neil"]),
        ("french", "L’avion aujourd’hui", &["avion", "l'avion", "aujourd'hui"]),
        ("italian", "dell’arte", &["arte", "dell'arte"]),
        ("catalan", "l’aigua", &["aigua"]),
    ] {
        check(spec, text, found, &[]);
    }
}

#[test]
fn languages_normalize_and_fold_case() {
    for (name, _) in names().filter(|(name, long)| long.contains("words") && *name != "turkish") {
        check(name, "ＦＩＬÄ\u{DF}Q", &["fila\u{308}ßq", "FILÄSSQ", "ﬁläßq"], &[]);
        check(name, "Xyzzy’Q", &["xyzzy'q"], &[]);
    }
    for (spec, text, found) in [
        ("german", "daß die Straßen", &["Strasse", "STRASSE", "straße"][..]),
        ("words|nfkc|lower|stem:el", "ΟΔΥΣΣΕΥΣ", &["οδυσσευς", "Οδυσσευς"]),
        ("turkish", "KIŞIN kitaplar", &["kışın", "kitap", "KİTAPLAR"]),
    ] {
        check(spec, text, found, &[]);
    }
    let german = Analyzer::from_spec("german").unwrap();
    assert!(german.tokens("daß dass DASS Daß").is_empty());
    assert!(Analyzer::from_spec("turkish").unwrap().tokens("ve ile İÇİN ŞU").is_empty());
}

#[test]
fn every_part_of_a_text_is_found_by_its_ngrams() {
    let text = "the barman walks";
    for max in 2..8 {
        for min in 1..=max {
            let spec = format!("ngram:{min},{max}");
            let index = index(&spec, &[text, "xyz"]);
            let searcher = index.searcher().unwrap();
            for from in 0..text.len() {
                for to in from + min..=text.len() {
                    let part = &text[from..to];
                    let found = searcher.count(&Query::phrase(part)).unwrap();
                    assert_eq!(found, 1, "{part:?} by {spec}");
                }
            }
            for other in ["barmen", "bam", "walksx", "the  barman", "manbar", "the walks"] {
                let found = searcher.count(&Query::phrase(other)).unwrap();
                assert_eq!(found, 0, "{other:?} by {spec}");
            }
        }
    }
    check("ngram:2,4", text, &["bar", "barman", "\"man w\"", "barm", "ba*", "barma*"], &["b"]);
    check(
        "ngram:2,3|lower",
        "Straße BAR",
        &["strasse", "asse", "ss", "bar", "\"se b\""],
        &["\"se  b\""],
    );
    check("ngram:2,3|nfc", "cafe\u{301}s", &["fé", "café", "e\u{301}s"], &["fe"]);
    check("ngram:1,2", "東京都", &["東", "京都", "東京都"], &["東都"]);
    check("edge_ngram:2,4", "barman", &["ba", "bar", "barm", "barma", "ba*"], &["ar", "b", "man"]);
}

/// Whether a text has what a pattern stands for in it.
fn is_in(pattern: &[char], text: &[char]) -> bool {
    let begins = |text: &[char]| match pattern {
        [] => true,
        ['*', rest @ ..] => (0..=text.len()).any(|at| is_in_front(rest, &text[at..])),
        pattern => is_in_front(pattern, text),
    };
    (0..=text.len()).any(|at| begins(&text[at..]))
}

fn is_in_front(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], _) => true,
        (['*', rest @ ..], _) => (0..=text.len()).any(|at| is_in_front(rest, &text[at..])),
        (['?', rest @ ..], [_, after @ ..]) => is_in_front(rest, after),
        ([c, rest @ ..], [d, after @ ..]) if c == d => is_in_front(rest, after),
        _ => false,
    }
}

/// Patterns in fields of n-grams mean what they mean anywhere in a text. Of several parts, with `*` between, all must be
/// there; a remark says that their order is not looked at.
#[test]
fn patterns_find_the_texts_that_they_are_in_by_ngrams() {
    let mut random = crate::random::Random(11);
    for spec in ["ngram:2,4", "ngram:3,3", "ngram:1,2", "ngram:2,3|lower"] {
        let letters = ['a', 'b', ' ', 'm'];
        // As long as the longest n-gram at least: a shorter one has no terms.
        let text = |random: &mut crate::random::Random| -> String {
            (0..4 + random.below(9)).map(|_| letters[random.below(4)]).collect()
        };
        let texts: Vec<String> = (0..60).map(|_| text(&mut random)).collect();
        let texts: Vec<&str> =
            texts.iter().map(String::as_str).chain(["the barman walks"]).collect();
        let index = index(spec, &texts);
        let searcher = index.searcher().unwrap();
        let fixed = ["b*man", "*arm*", "ba?man", "b*k", "*an w*", "?a*m", "bar*arm"];
        let made: Vec<String> = (0..150)
            .map(|_| {
                (0..1 + random.below(6))
                    .map(|_| ['a', 'b', 'm', '?', '*', '*'][random.below(6)])
                    .collect()
            })
            .collect();
        for pattern in fixed.into_iter().chain(made.iter().map(String::as_str)) {
            let chars: Vec<char> = pattern.chars().collect();
            let parts: Vec<&[char]> =
                chars.split(|c| *c == '*').filter(|it| !it.is_empty()).collect();
            // Without a wildcard it is a word, and only what it begins with a prefix.
            if !pattern.contains(['*', '?']) || parts.is_empty() {
                continue;
            }
            if let [only] = parts[..]
                && !only.contains(&'?')
                && !pattern.starts_with('*')
            {
                continue;
            }
            let query = Query::wildcard(pattern);
            let found = searcher.search(&query).limit(100).order(Order::Document).run().unwrap();
            let found: Vec<u64> = found.hits.iter().map(|hit| hit.doc.0).collect();
            let has = |text: &&str| {
                let text: Vec<char> = text.chars().collect();
                parts.iter().all(|part| is_in(part, &text))
            };
            let docs = |is_meant: &dyn Fn(&&str) -> bool| -> Vec<u64> {
                let all = texts.iter().enumerate().filter(|(_, text)| is_meant(text));
                all.map(|(nth, _)| nth as u64).collect()
            };
            assert_eq!(found, docs(&has), "{pattern} by {spec}");
            let meant = docs(&|text| is_in(&chars, &text.chars().collect::<Vec<_>>()));
            assert!(meant.iter().all(|doc| found.contains(doc)), "{pattern} by {spec}");
            let notes = searcher.explain(&query).unwrap().notes;
            let is_told = notes.iter().any(|note| note.contains("in any order"));
            assert_eq!(is_told, parts.len() > 1, "{pattern} by {spec}: {notes:?}");
        }
    }
    // Pairs of characters overlap as well.
    check("default", "東京の都庁", &["東*都", "東京*都庁"], &["東*西"]);
}

#[test]
fn a_query_shorter_than_every_ngram_says_so() {
    let index = index("ngram:3,4", &["barman"]);
    let searcher = index.searcher().unwrap();
    let plan = searcher.search(&searcher.parse("ba").unwrap()).explain().unwrap();
    assert!(plan.to_string().contains("no term left by the analyzer"), "{plan}");
}

fn fixture() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/analysis-v1")
}

#[test]
fn an_index_of_version_1_goes_on_with_version_1() {
    let copy = std::env::temp_dir().join(format!("treepie-analysis-v1-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir_all(&copy).unwrap();
    for entry in std::fs::read_dir(fixture()).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
    }
    let ask = |index: &Index, n: u64| {
        assert_eq!(index.inspect().unwrap().term_versions().analysis, 1);
        for (query, expected) in [
            ("zürich", n),
            ("ZÜRICH", n),
            ("zurich", 0),
            ("東京都", n),
            ("東京", 0),
            ("body:O’Neil", n),
            ("body:O'Neil", 0),
            ("body:straße", n),
            ("body:strasse", 0),
            ("grams:ba", n),
            ("grams:bar", 0),
            ("grams:an", n),
            ("cjk:東京", n),
            ("cjk:京", 0),
        ] {
            assert_eq!(count(index, query), expected, "{query}");
        }
    };
    let mut index = Index::open(&copy).unwrap();
    ask(&index, 1);
    let told = index.inspect().unwrap().term_versions().differences().join("\n");
    assert!(told.contains("version 1") && told.contains("built anew"), "{told}");
    // What is added is made as the rest was, also after the commit, a merge and more fields.
    let mut writer = index.writer().unwrap();
    let document = || {
        Document::new()
            .with("title", "Zürich 東京都")
            .with("body", "O’Neil Straße")
            .with("grams", "barman")
            .with("cjk", "東京都")
    };
    writer.add(document()).unwrap();
    writer.commit().unwrap();
    ask(&index, 2);
    writer.add(document()).unwrap();
    writer.commit().unwrap();
    writer.merge().unwrap();
    ask(&index, 3);
    drop(writer);
    index.add_fields([Field::new("more", FieldKind::Text)]).unwrap();
    let index = Index::open(&copy).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(document().with("more", "Zürich")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    ask(&index, 4);
    assert_eq!([count(&index, "more:zürich"), count(&index, "more:zurich")], [1, 0]);
    let salvaged = copy.with_extension("salvaged");
    let _ = std::fs::remove_dir_all(&salvaged);
    Index::salvage(&copy, &salvaged).unwrap();
    ask(&Index::open(&salvaged).unwrap(), 4);
    // A new one in its place folds.
    let schema = Schema::builder().text("title").build().unwrap();
    let index = Index::overwrite(&copy, schema).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("title", "Zürich 東京都")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let index = Index::open(&copy).unwrap();
    assert_eq!([count(&index, "zurich"), count(&index, "東京")], [1, 1]);
    assert!(index.inspect().unwrap().term_versions().differences().is_empty());
    let _ = (std::fs::remove_dir_all(&copy), std::fs::remove_dir_all(&salvaged));
}

#[test]
fn an_index_without_documents_starts_anew() {
    let index = index("default", &[]);
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("t", "Zürich")).unwrap();
    writer.commit().unwrap();
    assert_eq!(count(&index, "zurich"), 1);
}

/// macOS writes the `ö` of a header as `o` and a mark.
#[test]
fn fields_are_found_however_their_names_are_composed() {
    let (composed, decomposed) = ("Gr\u{f6}\u{df}e", "Gro\u{308}\u{df}e");
    for (own, other) in [(composed, decomposed), (decomposed, composed)] {
        let index = Index::in_memory(
            Schema::builder().text("t").field(Field::new(own, FieldKind::I64)).build().unwrap(),
        );
        let mut writer = index.writer().unwrap();
        writer.add(Document::new().with("t", "a").with(own, 3)).unwrap();
        writer.add(Document::new().with("t", "b").with(other, 5)).unwrap();
        writer.commit().unwrap();
        for name in [own, other] {
            assert_eq!(count(&index, &format!("{name}:>3")), 1);
            assert_eq!(count(&index, &format!("_missing:{name}")), 0);
            let searcher = index.searcher().unwrap();
            let read = searcher.parse_lenient(&format!("{name}:3"));
            assert!(read.remarks.is_empty(), "{:?}", read.remarks);
            assert_eq!(searcher.count(&read.query).unwrap(), 1);
            let by_size = format!("-{name}").parse().unwrap();
            let all = Query::All;
            let found = searcher.search(&all).sort([by_size]).facet(name, 5).run().unwrap();
            assert_eq!(found.hits[0].fields[own].to_string(), "5");
            assert_eq!(found.facets[0].buckets.len(), 2);
        }
    }
}
