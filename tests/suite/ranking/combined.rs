//! Fields that are ranked as if they were one (BM25F).

use super::*;

/// Words in both fields at once, also among others.
pub(super) fn combined_query(random: &mut Random) -> Query {
    let mut words = |n: usize| -> Vec<Query> {
        (0..1 + random.below(n))
            .map(|_| match random.below(6) {
                0 => Query::word_in(FIELDS[random.below(2)], random.word()),
                _ => Query::word(random.word()),
            })
            .collect()
    };
    let (a, b) = (words(3), words(4));
    let query = match random.below(5) {
        0 => Query::all_of(a),
        1 => Query::group(a, b, vec![]),
        2 => Query::group(vec![], b, a),
        3 => Query::best_of(a.into_iter().take(2), Tie::new(0.3).unwrap()),
        _ => Query::any_of(b),
    };
    let weight = |random: &mut Random| Boost::new([0.25, 1.0, 1.0, 3.0][random.below(4)]).unwrap();
    let mut fields = [("title", weight(random)), ("body", weight(random))];
    if random.below(2) == 0 {
        fields.reverse();
    }
    let query = query.in_combined_fields(fields);
    match random.below(3) {
        0 => Query::any_of([query, random.query(1)]),
        1 => query.boosted(2.0).unwrap(),
        _ => query,
    }
}

#[test]
fn combined_fields_rank_like_one_field_made_of_them() {
    let mut random = Random(33);
    for (n_docs, n_segments, percent) in
        [(2, 1, 0), (60, 1, 0), (400, 1, 0), (400, 5, 0), (400, 5, 30), (1_500, 2, 0)]
    {
        let (naive, searcher) = corpus_without(&mut random, n_docs, n_segments, percent);
        for _ in 0..80 {
            let query = combined_query(&mut random);
            let limit = [1, 10, 1_000][random.below(3)];
            check(&searcher, &query, &naive.ranked(&query), 0, limit);
        }
    }
}

#[test]
fn combined_fields_are_found_by_bounds_and_explained() {
    let (_, searcher) = corpus(&mut Random(9), 1_200, 1);
    let query = searcher.parse("{title^3 + body}:(w0 w1)").unwrap();
    let run = searcher.search(&query).limit(1).analyze().unwrap().plan;
    assert!(run.algorithm.contains("bounds of 2 words of several fields"), "{run:?}");
    let hits = searcher.search(&query).limit(1).run().unwrap().hits;
    let explained = searcher.explain_score(&query, hits[0].doc).unwrap().unwrap();
    let adds_up = explained.parts.iter().map(|part| part.value).sum::<f32>();
    assert_eq!(explained.value, adds_up);
    for word in &explained.parts {
        let [weight, part] = &word.parts[..] else { panic!("{explained}") };
        assert_eq!(word.value, weight.value * part.value, "{explained}");
        assert!(part.what.contains(" = 3 × ") && part.what.contains(" in body"), "{explained}");
    }
    assert!(explained.parts[0].what.contains("title:w0^3 + body:w0"), "{explained}");
    // One k1 for all: with 0 neither frequencies nor lengths matter.
    let query = searcher.parse("{title^3 + body}:w0").unwrap();
    let flat = searcher.search(&query).bm25("title", 0.0, 0.75).limit(500).run().unwrap().hits;
    assert!(flat.len() > 100 && flat.iter().all(|hit| hit.score == flat[0].score));
}

#[test]
fn fields_that_cannot_be_combined_are_refused() {
    let schema = Schema::builder().text("title").text("body").keyword("tag").build().unwrap();
    let index = Index::in_memory(schema);
    index.writer().unwrap().commit().unwrap();
    let searcher = index.searcher().unwrap();
    for (text, found) in [
        ("{title + tag}:a", "'tag'"),
        ("{title + title^2}:a", "'title' twice"),
        ("{title^1001 + body}:a", "1001 for 'title'"),
        ("{title + body^0.0001}:a", "0.0001 for 'body'"),
    ] {
        let query = searcher.parse(text).unwrap();
        for error in
            [searcher.count(&query).unwrap_err(), searcher.search(&query).run().unwrap_err()]
        {
            assert!(error.to_string().contains(found), "{error}");
        }
    }
}
