//! Plans as text, so that a review shows when one changes.

use treepie::{Document, EstimateFrom, Index, Order, Schema, Searcher, assert_plan};

/// 1,000 documents; each word is in those whose number its name divides.
fn searcher() -> Searcher {
    let schema = Schema::builder().text("t").keyword("k").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for n in 0..1_000 {
        let divides = |d: &u32| n % d == 0;
        let words: Vec<_> =
            [1, 2, 3, 50, 500].into_iter().filter(divides).map(|d| format!("by{d}")).collect();
        let mut document = Document::new().with("t", words.join(" "));
        if n % 5 == 0 {
            document.push("k", format!("k{}", n % 10));
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

/// Checks the plans of a count and of a page.
#[track_caller]
fn check(query: &str, count: &str, page: &str) {
    let searcher = searcher();
    let query = searcher.parse(query).unwrap();
    for (search, expected) in [
        (searcher.search(&query).count_only(), count),
        (searcher.search(&query).order(Order::Document).limit(3), page),
    ] {
        // What the planner goes by.
        let search = search.estimate_from(EstimateFrom::Headers);
        assert_plan!(search.explain().unwrap(), expected);
    }
}

#[test]
fn a_term_is_counted_by_its_document_frequency() {
    check(
        "by2",
        "
        TermScan t:by2 [document frequency] ~500 (document frequency)
        ✓ count is known",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          ✓ stop at the page",
    );
}

#[test]
fn intersections_go_from_the_smallest_up_and_drop_what_is_everything() {
    check(
        "by2 AND by1 AND by3 AND NOT by50",
        "
        Intersect +t:by3 +t:by2 +t:by1 -t:by50 [merge array × array] ~164 in 0..=334 (independence)
        ✓ every document has it
        ✓ smallest first
        ✓ kernel
        ✓ count the last step
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          TermScan t:by1 [every document] ~1000 (document frequency)
          TermScan NOT t:by50 [short list] ~20 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 in 0..=3 (limit)
          Intersect +t:by3 +t:by2 +t:by1 -t:by50 [merge array × array] ~164 in 0..=334 (independence)
          ✓ stop at the page
          ✓ every document has it
          ✓ smallest first
          ✓ kernel
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan t:by2 [roaring containers] ~500 (document frequency)
            TermScan t:by1 [every document] ~1000 (document frequency)
            TermScan NOT t:by50 [short list] ~20 (document frequency)",
    );
}

#[test]
fn an_absent_word_proves_an_intersection_empty() {
    check(
        "by2 AND by7",
        "
        Nothing t:by7 AND t:by2 [known to be empty] ~0 (bounds meet)
        ✓ prove empty
          TermScan t:by7 [known to be empty] ~0 (document frequency)
          TermScan t:by2 [roaring containers] ~500 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~0 (limit)
          Nothing t:by7 AND t:by2 [known to be empty] ~0 (bounds meet)
          ✓ prove empty
            TermScan t:by7 [known to be empty] ~0 (document frequency)
            TermScan t:by2 [roaring containers] ~500 (document frequency)",
    );
}

#[test]
fn unions_count_by_inclusion_and_exclusion_or_while_uniting() {
    check(
        "by2 OR by3 OR by7",
        "
        Union t:by2 OR t:by3 OR t:by7 [inclusion and exclusion] ~667 in 500..=834 (independence)
        ✓ no document has it
        ✓ inclusion and exclusion
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan t:by7 [known to be empty] ~0 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          Union t:by2 OR t:by3 OR t:by7 [largest container first] ~667 in 500..=834 (independence)
          ✓ stop at the page
          ✓ no document has it
            TermScan t:by2 [roaring containers] ~500 (document frequency)
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan t:by7 [known to be empty] ~0 (document frequency)",
    );
    check(
        "by2 OR by3 OR by50",
        "
        Union t:by2 OR t:by3 OR t:by50 [count while uniting] ~674 in 500..=854 (independence)
        ✓ count while uniting
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan t:by50 [short list] ~20 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          Union t:by2 OR t:by3 OR t:by50 [largest container first] ~674 in 500..=854 (independence)
          ✓ stop at the page
            TermScan t:by2 [roaring containers] ~500 (document frequency)
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan t:by50 [short list] ~20 (document frequency)",
    );
}

#[test]
fn what_is_excluded_is_counted_and_subtracted() {
    check(
        "NOT (by2 OR by3)",
        "
        Difference -t:by2 -t:by3 [complement] ~333 in 166..=500 (independence)
        ✓ count the complement
          TermScan NOT t:by2 [roaring containers] ~500 (document frequency)
          TermScan NOT t:by3 [roaring containers] ~334 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          Difference -t:by2 -t:by3 [complement] ~333 in 166..=500 (independence)
          ✓ stop at the page
            TermScan NOT t:by2 [roaring containers] ~500 (document frequency)
            TermScan NOT t:by3 [roaring containers] ~334 (document frequency)",
    );
}

#[test]
fn the_value_and_the_presence_of_a_keyword_are_leaves_too() {
    check(
        "k:* AND by3 AND NOT k:\"k5\"",
        r#"
        Intersect +k:* +t:by3 -k:"k5" [merge array × array] ~60 in 0..=200 (independence)
        ✓ smallest first
        ✓ kernel
        ✓ count the last step
          Exists k:* [roaring containers] ~200 (field statistics)
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan NOT k:"k5" [short list] ~100 (document frequency)"#,
        r#"
        Limit first 3, count all [document order; count what is past the page] ~3 in 0..=3 (limit)
          Intersect +k:* +t:by3 -k:"k5" [merge array × array] ~60 in 0..=200 (independence)
          ✓ stop at the page
          ✓ smallest first
          ✓ kernel
            Exists k:* [roaring containers] ~200 (field statistics)
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan NOT k:"k5" [short list] ~100 (document frequency)"#,
    );
}
