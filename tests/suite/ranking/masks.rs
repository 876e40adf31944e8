//! Words that filter mask blocks of the lists that are ranked.

use super::*;

#[test]
fn plans_say_whether_a_word_that_filters_masks_blocks() {
    let index = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..4_000u32 {
        let mut title = format!("w{} w{}", n % 3, n % 5);
        for (word, modulus) in [("often", 4), ("seldom", 500)] {
            if n % modulus == 0 {
                title.push(' ');
                title.push_str(word);
            }
        }
        writer.add(Document::new().with("title", title)).unwrap();
        if n == 2_000 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let decision = |text: &str| {
        let query = searcher.parse(text).unwrap();
        let search = searcher.search(&query).total(TotalMode::Unknown);
        let plan = search.explain().unwrap().plan;
        plan.decisions.into_iter().find(|decision| decision.rule == "filter by masks")
    };
    let often = decision("+often^=0 +(w1 w2)").expect("a decision");
    assert!(often.accepted && often.reason.contains("masks the blocks"), "{often:?}");
    // All documents that score are few, and looked up one by one.
    let few = decision("+often^=0 +(seldom absent)").expect("a decision");
    assert!(!few.accepted, "{few:?}");
    let seldom = decision("+seldom^=0 +(w1 w2)").expect("a decision");
    assert!(!seldom.accepted && seldom.reason.contains("few documents"), "{seldom:?}");
    for others in ["+often +(w1 w2)", "w1 w2", "+often^=0 +w1"] {
        assert_eq!(decision(others), None, "{others}");
    }
}

/// The best documents have a word that must not be there, as those without are longer.
#[test]
fn masks_of_words_that_filter_let_no_excluded_document_through() {
    let index = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..4_000u32 {
        let last = if n % 2 == 0 { "bad" } else { "a few words more" };
        let title = format!("w{} w{} often {last}", n % 3, n % 5);
        writer.add(Document::new().with("title", title)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for text in ["+often^=0 +(w1 w2) -bad", "w1 w2 +often^=0 -bad", "+often +(w1 w2) -bad"] {
        let query = searcher.parse(text).unwrap();
        let search = searcher.search(&query).limit(10);
        let best = search.clone().total(TotalMode::Unknown).run().unwrap();
        let all = search.limit(4_000).run().unwrap();
        assert_eq!(best.hits[..], all.hits[..10], "{text}");
        assert!(best.hits.iter().all(|hit| hit.doc.0 % 2 == 1), "{text}");
    }
}
