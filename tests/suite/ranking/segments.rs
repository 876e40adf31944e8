//! Scores over several segments are those of one.

use super::*;

#[test]
fn with_its_own_statistics_each_segment_ranks_like_an_index_of_its_own() {
    let schema = Schema::builder().text("title").text("body").keyword("tag").build().unwrap();
    let mut random = Random(55);
    let together = Index::in_memory(schema.clone());
    let mut writer = together.writer().unwrap();
    let mut alone = vec![];
    for n_docs in [30, 300, 700] {
        let own = Index::in_memory(schema.clone());
        let mut own_writer = own.writer().unwrap();
        for _ in 0..n_docs {
            let texts = FIELDS.map(|field| (field, random.text(0..30).join(" ")));
            let document = texts
                .into_iter()
                .fold(Document::new(), |so_far, (field, text)| so_far.with(field, text));
            let document = document.with("tag", random.word());
            writer.add(document.clone()).unwrap();
            own_writer.add(document).unwrap();
        }
        writer.commit().unwrap();
        own_writer.commit().unwrap();
        alone.push(own.searcher().unwrap());
    }
    let together = together.searcher().unwrap();
    for _ in 0..150 {
        let query = match random.below(5) {
            0 => combined::combined_query(&mut random),
            1 => patterns::pattern_query(&mut random, 1),
            2 => Query::word_in("tag", random.word()),
            3 => Query::prefix("w1").in_field("tag"),
            _ => random.query(2),
        };
        let n = [0, 3][random.below(2)];
        let mut expected = vec![];
        let mut base = 0;
        for own in &alone {
            let hits = own.search(&query).pattern_terms(n).limit(1_000).run().unwrap().hits;
            expected.extend(hits.iter().map(|hit| (hit.score.unwrap(), base + hit.doc.0)));
            base += own.n_docs();
        }
        expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let search = together.search(&query).pattern_terms(n).statistics(IdfScope::Segment);
        let limit = [1, 10, 2_000][random.below(3)];
        let hits = search.clone().limit(limit).run().unwrap().hits;
        let found: Vec<_> = hits.iter().map(|hit| (hit.score.unwrap(), hit.doc.0)).collect();
        assert_eq!(found, expected[..expected.len().min(limit as usize)], "{query}");
        if let Some((score, doc)) = found.last() {
            let explained = search.explainer().score(DocId(*doc)).unwrap().unwrap();
            assert_eq!(explained.value, *score, "{query}\n{explained}");
        }
    }
    let query = together.parse("title:w1 title:w2").unwrap();
    let plan = together.search(&query).statistics(IdfScope::Segment).explain().unwrap();
    assert!(plan.to_string().contains("statistics of each segment"), "{plan}");
}

/// Codes were computed with the average length of a segment, and scores are of all: what codes promise is too much or too little.
#[test]
fn segments_of_longer_and_of_shorter_texts_rank_like_the_naive_scorer() {
    let mut random = Random(13);
    let many = [80, 300, 150, 40, 260].repeat(3);
    for sizes in [&[700, 1_500, 1_200, 40, 900][..], &[1_600, 700], &many] {
        let n_words = |segment: usize| [25..39, 0..6, 0..12, 10..30, 0..4][segment % 5].clone();
        let (mut naive, index) = indexed_of(&mut random, sizes, n_words);
        check_random(&mut random, &naive, &index.searcher().unwrap(), 150);
        let n_docs = naive.docs.len();
        for percent in [3, 30] {
            let some: Vec<usize> = (0..n_docs)
                .filter(|doc| !naive.deleted[*doc] && random.below(100) < percent)
                .collect();
            delete(&mut naive, &index, &some);
            let searcher = index.searcher().unwrap();
            assert_eq!(index.inspect().unwrap().segments().len(), sizes.len());
            check_random(&mut random, &naive, &searcher, 150);
        }
    }
}

#[test]
fn scores_do_not_depend_on_the_segments() {
    let answers = [1, 4].map(|n_segments| {
        let mut random = Random(3);
        let (_, searcher) = corpus(&mut random, 500, n_segments);
        let query = searcher.parse("title:w1 body:w2 title:w0").unwrap();
        let hits = searcher.search(&query).limit(500).run().unwrap().hits;
        hits.iter().map(|hit| (hit.score.unwrap().to_bits(), hit.doc)).collect::<Vec<_>>()
    });
    assert_eq!(answers[0], answers[1]);
}
