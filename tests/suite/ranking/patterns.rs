//! Patterns that score by the best of their terms.

use super::*;

/// Patterns, also among words, with what makes scores of them.
pub(super) fn pattern_query(random: &mut Random, depth: usize) -> Query {
    if depth > 0 {
        let parts: Vec<Query> = (0..1 + random.below(3))
            .map(|_| match random.below(3) {
                0 => random.query(0),
                _ => pattern_query(random, depth - 1),
            })
            .collect();
        return match random.below(5) {
            0 => Query::all_of(parts),
            1 => Query::group(vec![parts[0].clone()], parts[1..].to_vec(), vec![]),
            2 => Query::group(parts, vec![], vec![pattern_query(random, 0)]),
            _ => Query::any_of(parts),
        };
    }
    let field = FIELDS[random.below(2)];
    let pattern = match random.below(3) {
        0 => Query::prefix(["w", "w1", "w2", "w40"][random.below(4)]),
        1 => Query::wildcard(["w?", "w*3", "?1?", "w1*2", "x*"][random.below(5)]),
        _ => {
            let fuzziness = Fuzziness {
                distance: 1 + random.below(2) as u8,
                prefix_len: random.below(3) as u32,
                transpositions: random.below(2) == 0,
            };
            let word = ["w", "w1", "v12", "w34", "w433"][random.below(5)];
            Query::fuzzy(word, fuzziness).unwrap()
        }
    };
    let pattern = pattern.in_field(field);
    match random.below(3) {
        0 => pattern.boosted(2.5).unwrap(),
        _ => pattern,
    }
}

#[test]
fn patterns_score_by_their_best_terms() {
    let mut random = Random(21);
    for (n_docs, n_segments, percent) in
        [(3, 1, 0), (300, 1, 0), (300, 4, 0), (300, 4, 30), (1_000, 2, 0), (1_000, 2, 50)]
    {
        let (mut naive, searcher) = corpus_without(&mut random, n_docs, n_segments, percent);
        for _ in 0..80 {
            let query = {
                let depth = random.below(3);
                pattern_query(&mut random, depth)
            };
            let n = [0, 1, 2, 5, 20, 1_000][random.below(6)];
            naive.pattern_terms = n;
            let search = searcher.search(&query).pattern_terms(n as u32);
            let limit = [1, 10, 1_000][random.below(3)];
            check_search(&search, &query, &naive.ranked(&query), 0, limit);
        }
    }
}

#[test]
fn plans_say_which_terms_of_a_pattern_are_scored() {
    let (_, searcher) = corpus(&mut Random(9), 800, 2);
    let query = searcher.parse("title:w1*").unwrap();
    let search = searcher.search(&query);
    let plan = search.clone().pattern_terms(3).explain().unwrap().plan;
    let reason = &plan.decisions[1].reason;
    assert_eq!(
        reason,
        "title:w1* scores by 3 of 11 terms (22 visited): w1, w11, w10; the other 8 add nothing"
    );
    let plan = search.clone().pattern_terms(20).explain().unwrap().plan;
    assert!(plan.decisions[1].reason.contains("by 11 of 11 terms"), "{plan:?}");
    assert!(plan.algorithm.contains("bounds of 11 terms"), "{plan:?}");
    // Not scored: all are equally good.
    assert_eq!(search.clone().explain().unwrap().plan.operator.name(), "Limit");
    let error = search.pattern_terms(PATTERN_TERMS_MAX + 1).run().unwrap_err();
    assert!(error.to_string().contains("PATTERN_TERMS_MAX"), "{error}");
}

#[test]
fn a_misspelling_is_worth_less_than_the_word() {
    let index = Index::in_memory(Schema::builder().text("title").keyword("tag").build().unwrap());
    let mut writer = index.writer().unwrap();
    for title in ["history", "hystory", "history", "history", "hist", "misery"] {
        writer.add(Document::new().with("title", title).with("tag", title)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let hits = |text: &str| {
        let query = searcher.parse(text).unwrap();
        let page = searcher.search(&query).pattern_terms(10).run().unwrap();
        let hit = |hit: &treepie::Hit| (hit.doc.0, hit.score.unwrap());
        page.hits.iter().map(hit).collect::<Vec<_>>()
    };
    let docs = |text: &str| hits(text).iter().map(|(doc, _)| *doc).collect::<Vec<_>>();
    // Alone the rare one is the best.
    assert_eq!(docs("title:(history hystory)"), [1, 0, 2, 3]);
    assert_eq!(docs("title:history~1"), [0, 2, 3, 1]);
    let spelled = hits("title:history~1");
    // One of seven characters.
    assert!(nearly(spelled[3].1, spelled[0].1 * (1.0 - 1.0 / 7.0)), "{spelled:?}");
    let query = searcher.parse("title:history~1").unwrap();
    let search = searcher.search(&query).pattern_terms(10);
    let explained = search.explainer().score(DocId(1)).unwrap().unwrap().to_string();
    assert!(explained.contains("in n = 3 of N = 6 documents, as its most"), "{explained}");
    // In a keyword field a value is there or not.
    let keyword = hits("tag:hi*");
    assert_eq!(keyword.len(), 4);
    assert!(keyword[0].0 == 4 && keyword[0].1 > keyword[1].1, "{keyword:?}");
}
