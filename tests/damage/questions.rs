//! Everything that an index can be asked, and what the sound one answers.

use crate::golden::{DOCS, Files, Parts, golden, in_use, manifests};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use treepie::explain::Explanation;
use treepie::facet::FacetCounts;
use treepie::highlight::{Marked, Passage, PassageOptions};
use treepie::inspect::Inspector;
use treepie::query::{ParseOptions, Query, parse};
use treepie::search::{Fields, IdfScope, Order, Total, TotalMode};
use treepie::storage::Storage;
use treepie::{DocId, Error, ErrorKind, Hit, Hits, Index, Result, Searcher, Value};

/// Queries of every kind, over lists of every kind.
const QUERIES: [&str; 59] = [
    "all",
    "tag:even",
    "n3",
    "title:w7",
    "absent",
    "all AND n3",
    "tag:even AND NOT tag:n4",
    "w7 OR w8 OR n5 OR even",
    "+all even^2 n3 -n4",
    "(all even n3 n5 w7)~2",
    "mark:most",
    "mark:most AND mark:run",
    "mark:most OR mark:ninth",
    "mark:run AND NOT mark:most",
    "mark:most AND kind:k1",
    "(mark:most mark:run mark:ninth mark:m7)~3",
    "*",
    "NOT all",
    "kind:k2 AND all",
    "kind:\"\"",
    "kind:*",
    "title:*",
    "-kind:* tag:middle",
    "\"all even\"",
    "\"all odd n1\"~1",
    "\"word0 word6 word0\"~>3 OR \"second value\"~<>4",
    "\"even n2\"~2 -\"odd n\"*",
    "\"second val\"*",
    "PHRASE [all e* n?]",
    "PHRASE [all * /n[0-9]+/]~>2",
    "PHRASE [secund~1 value]",
    "wo*",
    "mark:m1*",
    "w?rd?1",
    "*d1",
    "/w(or)?d?[0-9]{2}/",
    "mark:/m[0-4]+/",
    "wrod1~",
    "munchen~1!",
    "word10~1/4",
    "code:[c00500 TO c01000}",
    "code:>d5",
    "title:[word10 TO word2]",
    "kind:IN [k1 k3 \"\"]",
    "size:[0.5 TO 1.75}",
    "size:1.25 AND all",
    "size:IN [0.25 2 7] OR -size:*",
    "host:10.0.1.0/24 OR -host:*",
    "host:IN [10.0.0.0 10.0.1.1]",
    "place:p1/q2 OR place:p3/*",
    "near:* -kind:k1",
    "{title^3 tag}:(even n3)",
    "{title + tag^2}:(even odd)",
    "MAX [all even n3]~0.3",
    "tag:even^=2 tag:middle",
    "tag:even tag:n1 tag:rare3",
    "+tag:even +tag:middle tag:odd^=0",
    "東京 münchen",
    "word1 word2 word4 word6 word12",
];
/// What is marked, in a text that the index alone knows and in one that comes along.
const MARKED: &str = "\"all even\" n3 w7 wo* OR \"word0 word2\"~>3";
const TITLE: &str = "all even n3 w7 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 word12 word13 word14 word15 word16 word17 word18";

/// What a question got.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Number(u64),
    Page(Total, Vec<Hit>, Vec<FacetCounts>),
    Text(String),
    Explanation(Option<Explanation>),
    Document(Fields),
    Values(Vec<(String, Value)>),
    Passages(Vec<Passage>),
    /// Of a text that is not the document's, of which anything may be marked.
    Foreign(Vec<Passage>),
    /// Times differ, so only that there is one.
    Done,
}

/// Which questions are asked: all, or one of so many in turn, so that many cases together ask all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) nth: usize,
    pub(crate) of: usize,
}

impl Turn {
    pub(crate) const ALL: Turn = Turn { nth: 0, of: 1 };
}

/// Damage is called that, with the file it is in and with what is wrong there.
fn assert_told(what: &str, error: &Error) {
    let message = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {message}");
    let says_what =
        [": expected ", ": found ", ", found "].iter().any(|said| message.contains(said));
    assert!(error.file().is_some() && says_what, "{what}: {message}");
}

/// Counts questions, and asks those whose turn it is.
struct Asking<T> {
    turn: Turn,
    n: usize,
    take: T,
}

impl<T: FnMut(usize, &str, Result<Answer>)> Asking<T> {
    fn ask(&mut self, what: &str, question: impl FnOnce() -> Result<Answer>) {
        if (self.n + self.turn.nth).is_multiple_of(self.turn.of) {
            (self.take)(self.n, what, question());
        }
        self.n += 1;
    }
}

struct Questions {
    queries: Vec<Query>,
    marked: Query,
}

fn questions() -> &'static Questions {
    static PARSED: OnceLock<Questions> = OnceLock::new();
    PARSED.get_or_init(|| {
        let parsed = |text: &&str| parse(text, &ParseOptions::default()).unwrap();
        Questions { queries: QUERIES.iter().map(parsed).collect(), marked: parsed(&MARKED) }
    })
}

fn page(hits: Hits) -> Answer {
    Answer::Page(hits.total, hits.hits, hits.facets)
}

/// The same without what depends on the order in which documents are looked at.
fn best(hits: Hits) -> Answer {
    Answer::Page(Total::default(), hits.hits, hits.facets)
}

fn passages(values: &[Marked<'_>]) -> Vec<Passage> {
    values.iter().flat_map(|value| value.passages(&PassageOptions::default())).collect()
}

/// Asks, in the same order each time: counts, pages in every way, facets, plans, explanations, passages, documents.
/// `take` gets the number of the question.
pub(crate) fn ask(searcher: &Searcher, turn: Turn, take: impl FnMut(usize, &str, Result<Answer>)) {
    let Questions { queries, marked } = questions();
    let mut asking = Asking { turn, n: 0, take };
    for (nth, (text, query)) in QUERIES.iter().zip(queries).enumerate() {
        asking.ask(text, || searcher.count(query).map(Answer::Number));
        asking.ask(text, || first(searcher, query, nth));
        asking.ask(text, || second(searcher, query, nth));
    }
    let made = OnceCell::new();
    // Where it cannot be made, every question that needs it says why.
    let highlighter = || match made.get() {
        Some(highlighter) => Ok(highlighter),
        None => searcher.highlighter(marked).map(|new| made.get_or_init(|| new)),
    };
    for doc in (DOCS - 150..DOCS).step_by(11).chain([0, 120, 201]).map(DocId) {
        asking.ask("marking another text", || {
            let foreign = highlighter()?.in_document(doc, "title", [TITLE, TITLE])?;
            Ok(Answer::Foreign(passages(&foreign)))
        });
        asking.ask("marking", || {
            let fields = searcher.document(doc)?;
            let values = fields.get("title").map_or(vec![], |value| value.texts().collect());
            let own = highlighter()?.in_document(doc, "title", values)?;
            Ok(Answer::Passages(passages(&own)))
        });
    }
    for doc in (0..DOCS).step_by(97).chain(DOCS - 160..DOCS).map(DocId) {
        asking.ask("document", || searcher.document(doc).map(Answer::Document));
    }
}

/// A page, by each query in one of four ways.
fn first(searcher: &Searcher, query: &Query, nth: usize) -> Result<Answer> {
    let search = searcher.search(query).limit(3);
    match nth % 4 {
        0 => search.offset(2).facet("kind", 3).run().map(page),
        1 => search.total(TotalMode::Unknown).fields(["code", "near"]).run().map(best),
        2 => search.pattern_terms(4).run().map(page),
        _ => search.order(Order::Document).facet("title", 2).run().map(page),
    }
}

/// Something else, by each query one of six things.
fn second(searcher: &Searcher, query: &Query, nth: usize) -> Result<Answer> {
    let search = searcher.search(query).limit(5);
    match nth % 6 {
        0 => searcher.explain(query).map(|tree| Answer::Text(tree.to_string())),
        1 => search.analyze().map(|_| Answer::Done),
        2 => {
            searcher.explain_score(query, DocId(nth as u64 * 120 % 6_600)).map(Answer::Explanation)
        }
        3 => search.statistics(IdfScope::Segment).run().map(page),
        4 => {
            let mut prepared = search.total(TotalMode::Unknown).prepare()?;
            prepared.run()?;
            Ok(Answer::Number(prepared.run()?.hits.len() as u64))
        }
        _ => {
            let mut prepared = search.count_only().prepare()?;
            prepared.run()?;
            Ok(Answer::Number(prepared.run()?.total.value))
        }
    }
}

/// Looks inside.
pub(crate) fn look(
    inspector: &Inspector,
    turn: Turn,
    take: impl FnMut(usize, &str, Result<Answer>),
) {
    let mut asking = Asking { turn, n: 0, take };
    for (field, prefix, term) in [
        ("title", "w", "even"),
        ("tag", "", "even"),
        ("mark", "m", "even"),
        ("kind", "", "even"),
        ("code", "d", "even"),
        ("size", "", "0.5"),
        ("host", "", "10.0.0.0"),
        ("place", "p1/", "p1/q2"),
    ] {
        asking.ask(field, || {
            let (mut bytes, mut documents) = (0, 0);
            inspector.for_each_term(field, prefix, |term, n| {
                (bytes, documents) = (bytes + term.to_text().len() as u64, documents + n);
                Ok(true)
            })?;
            Ok(Answer::Number(bytes << 32 | documents))
        });
        asking.ask(field, || {
            let lists = inspector.postings(field, term, 20)?;
            Ok(Answer::Text(format!("{lists:?}")))
        });
    }
    asking.ask("values", || inspector.document(DocId(DOCS - 100)).map(Answer::Values));
    asking.ask("storage", || Ok(Answer::Text(format!("{:?}", inspector.storage()?))));
}

/// What an index answers to each question; `None` where it says that there is no such document.
struct Answers {
    asked: Vec<(String, Option<Answer>)>,
    looked: Vec<(String, Option<Answer>)>,
}

/// What each commit of the sound index answers, by generation.
pub(crate) struct Truth {
    answers: BTreeMap<u64, Answers>,
    newest: u64,
    /// The files of the newest commit.
    in_use: BTreeSet<String>,
}

/// The golden index, what it consists of, and what it answers.
pub(crate) fn sound() -> &'static (Files, Truth) {
    static SOUND: OnceLock<(Files, Truth)> = OnceLock::new();
    SOUND.get_or_init(|| {
        let files = golden(1);
        let truth = Truth::of(&files);
        (files, truth)
    })
}

impl Truth {
    fn of(files: &Files) -> Truth {
        let newest = *manifests(files).last().unwrap();
        let mut before = files.clone();
        before.remove(newest);
        let answers: BTreeMap<_, _> = [files, &before].into_iter().map(Self::of_newest).collect();
        Truth { newest: *answers.keys().last().unwrap(), answers, in_use: in_use(files) }
    }

    fn of_newest(files: &Files) -> (u64, Answers) {
        let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
        let inspector = index.inspect().unwrap();
        let report = inspector.verify(|error| panic!("{error}"));
        assert!(report.is_sound() && report.segments > 0);
        let searcher = index.searcher().unwrap();
        // The commit before has fewer documents, and must say so of the others.
        let known = |what: &str, answer: Result<Answer>| match answer {
            Ok(answer) => (what.to_owned(), Some(answer)),
            Err(error) if error.kind() == ErrorKind::NotFound => (what.into(), None),
            Err(error) => panic!("{what}: {error}"),
        };
        let (mut asked, mut looked) = (vec![], vec![]);
        ask(&searcher, Turn::ALL, |_, what, answer| asked.push(known(what, answer)));
        look(&inspector, Turn::ALL, |_, what, answer| looked.push(known(what, answer)));
        (searcher.generation(), Answers { asked, looked })
    }

    /// Whether a file belongs to the newest commit.
    pub(crate) fn is_read(&self, file: &str) -> bool {
        self.in_use.contains(file)
    }

    /// Asks and compares; how much was refused as damage.
    fn compare(&self, searcher: &Searcher, inspector: &Inspector, turn: Turn) -> usize {
        let mut refused = 0;
        let mut compare = |what: &str, found: Result<Answer>, expected: &Option<Answer>| match (
            found, expected,
        ) {
            (Ok(found), Some(expected)) => assert_eq!(found, *expected, "wrong answer to {what}"),
            (Ok(found), None) => panic!("{what}: {found:?} out of nothing"),
            (Err(error), None) if error.kind() == ErrorKind::NotFound => {}
            (Err(error), _) => {
                assert_told(what, &error);
                refused += 1;
            }
        };
        let truth = &self.answers[&searcher.generation()];
        ask(searcher, turn, |nth, what, found| compare(what, found, &truth.asked[nth].1));
        look(inspector, turn, |nth, what, found| compare(what, found, &truth.looked[nth].1));
        refused
    }

    /// Opens the index in `storage` and asks. `None` where it cannot be opened, else whether verification
    /// found anything.
    pub(crate) fn check(&self, storage: Arc<dyn Storage>, turn: Turn) -> Option<bool> {
        let opened = Index::options()
            .open_storage(storage)
            .and_then(|index| Ok((index.searcher()?, index.inspect()?)));
        let (searcher, inspector) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                assert_told("opening", &error);
                return None;
            }
        };
        // Before anything is verified, so that each read has to see for itself.
        let refused = self.compare(&searcher, &inspector, turn);
        let mut reported = 0;
        let report = inspector.verify(|error| {
            assert_told("verifying", &error);
            reported += 1;
        });
        assert_eq!(report.is_sound(), reported == 0);
        assert!(!report.is_sound() || refused == 0, "said to be sound, and {refused} refused");
        Some(!report.is_sound())
    }

    /// Whether an index that is this commit under another number answers as it does.
    pub(crate) fn compare_recovered(&self, index: &Index, generation: u64) {
        let inspector = index.inspect().unwrap();
        let report = inspector.verify(|error| panic!("{error}"));
        assert!(report.is_sound());
        let (searcher, truth) = (index.searcher().unwrap(), &self.answers[&generation]);
        ask(&searcher, Turn::ALL, |nth, what, found| match (found, &truth.asked[nth].1) {
            (Ok(found), Some(expected)) => assert_eq!(found, *expected, "{what}"),
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::NotFound, "{what}"),
            (found, expected) => panic!("{what}: {found:?} in place of {expected:?}"),
        });
    }
}

/// What an index answers that nothing is wrong with; nothing where there is no such document.
pub(crate) fn all_answers(index: &Index) -> Vec<(String, Option<Answer>)> {
    let mut answers = vec![];
    ask(&index.searcher().unwrap(), Turn::ALL, |_, what, found| {
        let found = match found {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found.unwrap_or_else(|error| panic!("{what}: {error}"))),
        };
        answers.push((what.to_owned(), found));
    });
    answers
}

#[test]
fn everything_is_asked_and_something_is_found() {
    let (_, truth) = sound();
    let Answers { asked, looked } = &truth.answers[&truth.newest];
    let answers = || asked.iter().chain(looked);
    let missing: Vec<_> = answers().filter(|(_, answer)| answer.is_none()).collect();
    // Those that are deleted.
    assert!((1..150).contains(&missing.len()), "{missing:?}");
    assert!(missing.iter().all(|(what, _)| what == "document" || what.starts_with("marking")));
    let counted = answers().filter_map(|(what, answer)| match answer {
        Some(Answer::Number(n)) => Some((what, *n)),
        _ => None,
    });
    for (what, n) in counted {
        assert!(n > 0 || what == "absent", "nothing matches {what}");
    }
    let marked = answers().filter(|(_, answer)| {
        matches!(answer, Some(Answer::Passages(found)) if found.iter().any(|p| !p.matches().is_empty()))
    });
    assert!(marked.count() > 5);
}
