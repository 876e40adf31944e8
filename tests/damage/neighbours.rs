//! Neighbours that are looked for in a damaged or forged graph: right answers, or an error that says what is wrong.

use crate::changes::{self, Case, Change, sample};
use crate::golden::{Dice, Files, Parts, writable};
use crate::guard::for_each;
use crate::seals::reseal;
use crate::walked::{
    Answer, DOCS, GRAPH, PAGES, VECTORS, answers, asked, assert_true, scores, section, segment,
    walked,
};
use crate::{mutations, seed};
use std::ops::Range;
use std::sync::Arc;
use treepie::storage::MemoryStorage;
use treepie::writer::SegmentOutcome;
use treepie::{DocId, ErrorKind, Index, WriterOptions};

/// Changes of each section that `cargo test` tries.
const SHORT: usize = 24;

/// Whether a change is of these bytes of the segment, which begin before and end after it.
fn is_in(case: &Case<'_>, bytes: &Range<usize>) -> bool {
    let at = match case.change {
        Change::Byte { at, .. } | Change::Burst { at, .. } => at..at + 1,
        Change::Zeroed(nth) => nth * 512..(nth + 1) * 512,
        _ => return false,
    };
    case.file == segment() && at.start < bytes.end && bytes.start < at.end
}

/// Changes of bytes, bursts and sectors of each of some sections.
fn cases(kinds: &[(u16, u16)], n: usize) -> Vec<Case<'static>> {
    let bytes = changes::bytes(walked());
    let coarse = changes::coarse(walked(), &mut Dice::new(seed()));
    let mut cases = vec![];
    for kind in kinds {
        let range = section(*kind);
        for (all, n) in [(&bytes, n), (&coarse, n / 4)] {
            let own: Vec<_> = all.iter().filter(|case| is_in(case, &range)).copied().collect();
            cases.extend(sample(&own, n, seed()));
        }
    }
    cases
}

/// Answers of an index; none if it is refused as damaged.
fn opened(files: &Files) -> Option<Vec<Answer>> {
    match answers(files) {
        Ok(answers) => Some(answers),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            None
        }
    }
}

fn verify(files: &Files) -> Vec<String> {
    let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let mut errors = vec![];
    index.inspect().unwrap().verify(|error| errors.push(error.to_string()));
    errors
}

#[test]
fn the_index_has_a_graph_that_is_walked_over_and_pages() {
    assert!(verify(walked()).is_empty());
    for kind in GRAPH.iter().chain(&VECTORS).chain(&PAGES) {
        assert!(!section(*kind).is_empty(), "{kind:?}");
    }
    let answers = answers(walked()).unwrap();
    assert!(answers.iter().all(Result::is_ok));
    assert_true(&answers);
    let index = Index::options().open_storage(Parts::mapped(walked().clone())).unwrap();
    let searcher = index.searcher().unwrap();
    let plans = asked().iter().map(|it| searcher.search(&it.query).explain().unwrap().to_string());
    let plans: String = plans.collect();
    for way in ["walk over the graph, ef 23", "all vectors compared"] {
        assert!(plans.contains(way), "{way}: {plans}");
    }
}

#[test]
fn no_changed_byte_of_a_graph_or_a_page_gives_a_wrong_answer_and_verification_sees_it() {
    let truth = answers(walked()).unwrap();
    let cases = cases(&[&GRAPH[..], &VECTORS, &PAGES].concat(), mutations(SHORT));
    let seen = for_each(&cases, |case| {
        let files = case.apply(walked());
        // A sector may end in the table of sections.
        let Some(answers) = opened(&files) else { return };
        for (found, truth) in answers.iter().zip(&truth) {
            match found {
                Ok(found) => assert_eq!(found, truth.as_ref().unwrap()),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    assert!(error.file().is_some(), "{error}");
                }
            }
        }
        assert!(!verify(&files).is_empty(), "verification did not see it");
    });
    println!("{} changed bytes, bursts and sectors: {seen}", cases.len());
}

/// Vectors are as they were, so that whatever is found has its own score, and nothing is missing.
#[test]
fn no_crafted_byte_of_a_graph_hides_a_document() {
    scores();
    let cases = cases(&GRAPH, mutations(SHORT));
    let seen = for_each(&cases, |case| {
        let mut files = case.apply(walked());
        reseal(&mut files, segment());
        let Some(answers) = opened(&files) else { return };
        assert_true(&answers);
        for error in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(!verify(&files).is_empty(), "{error}");
        }
        verify(&files);
    });
    println!("{} crafted bytes, bursts and sectors: {seen}", cases.len());
}

#[test]
fn no_crafted_vector_or_page_of_points_does_harm() {
    let cases = cases(&[VECTORS, PAGES].concat(), mutations(SHORT));
    let seen = for_each(&cases, |case| {
        let mut files = case.apply(walked());
        reseal(&mut files, segment());
        if opened(&files).is_some() {
            verify(&files);
        }
    });
    println!("{} crafted bytes of vectors: {seen}", cases.len());
}

#[test]
fn vectors_come_out_of_an_index_with_a_damaged_graph() {
    let sound = Index::options().open_storage(Parts::mapped(walked().clone())).unwrap();
    let rows = |index: &Index| -> Vec<_> {
        let searcher = index.searcher().unwrap();
        let near = |doc| Some(searcher.document(DocId(doc)).ok()?.get("near")?.clone());
        (0..DOCS).filter_map(near).collect()
    };
    let expected = rows(&sound);
    assert_eq!(expected.len(), scores()[0].len());
    for kind in GRAPH {
        let at = section(kind).start + section(kind).len() / 2;
        let was = walked()[segment()][at];
        let case = Case { file: segment(), change: Change::Byte { at, is: was ^ 0x55 } };
        // What is in one block with others is lost with them if its checksum is wrong.
        let mut files = case.apply(walked());
        if ![17, 18].contains(&kind.1) {
            reseal(&mut files, segment());
        }
        let to = Arc::new(MemoryStorage::new());
        let salvage = Index::options().salvage_storage(&*Parts::mapped(files), to.clone()).unwrap();
        assert_eq!((salvage.documents, salvage.lost), (expected.len() as u64, 0), "{kind:?}");
        assert_ne!(salvage.segments[0].outcome, SegmentOutcome::Lost, "{kind:?}");
        let index = Index::options().open_storage(to).unwrap();
        assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
        assert!(rows(&index) == expected, "{kind:?}");
    }
}

#[test]
fn a_merge_makes_a_graph_anew_whatever_the_old_one_is() {
    for kind in [(1, 18), (1, 21), (2, 17)] {
        let at = section(kind).start;
        let case = Case { file: segment(), change: Change::Byte { at, is: 0xFF } };
        let mut files = case.apply(walked());
        reseal(&mut files, segment());
        assert!(!verify(&files).is_empty());
        let index = Index::options().open_storage(writable(&files)).unwrap();
        let options = WriterOptions::new().threads(1);
        index.writer_with(options).unwrap().merge().unwrap();
        assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    }
}
