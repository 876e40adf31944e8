//! Halves of a corpus with the numbers of both score as one index of all of it: to the last bit.

use crate::random::Random;
use std::sync::Arc;
use treepie::search::{CollectionStatistics, IdfScope};
use treepie::{
    Document, ErrorKind, Field, FieldKind, Index, Schema, SearchBuilder, SearchRequest, Searcher,
};

const WORDS: [&str; 12] = [
    "king", "queen", "spain", "mice", "of", "the", "history", "new", "york", "deal", "city", "jay",
];

fn schema() -> Schema {
    let english = Field::new("body", FieldKind::Text).analyzer("english");
    let price = Field::new("price", FieldKind::I64);
    let builder = Schema::builder().text("title").field(english).keyword("kind").field(price);
    builder.default_fields(["title", "body"]).build().unwrap()
}

fn index(documents: &[Document]) -> Searcher {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    // Two segments, so that neither half nor whole is one.
    for part in documents.chunks(documents.len().div_ceil(2)) {
        for document in part {
            writer.add(document.clone()).unwrap();
        }
        writer.commit().unwrap();
    }
    drop(writer);
    index.searcher().unwrap()
}

fn documents() -> Vec<Document> {
    let mut random = Random(11);
    let mut text = move |most: usize| {
        let n = 1 + random.below(most);
        // The first words are the most frequent.
        let word = |random: &mut Random| {
            let (a, b) = (random.below(12), random.below(12));
            WORDS[a.min(b)]
        };
        (0..n).map(|_| word(&mut random)).collect::<Vec<_>>().join(" ")
    };
    let document = |nth: usize| {
        let document = Document::new().with("title", text(6)).with("body", text(40));
        document.with("kind", ["a", "b", "c"][nth % 3]).with("price", (nth % 7) as i64)
    };
    (0..600).map(document).collect()
}

/// The best scores of all shards together, best first.
fn merged(shards: &[Searcher], search: impl Fn(&Searcher) -> Vec<f32>) -> Vec<u32> {
    let mut scores: Vec<f32> = shards.iter().flat_map(search).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.truncate(20);
    scores.into_iter().map(f32::to_bits).collect()
}

fn scores(search: SearchBuilder<'_>) -> Vec<f32> {
    search.limit(20).run().unwrap().hits.iter().filter_map(|hit| hit.score).collect()
}

#[test]
fn halves_score_as_the_whole_with_the_numbers_of_both() {
    let documents = documents();
    let whole = index(&documents);
    // Of different lengths and words.
    let shards = [index(&documents[..200]), index(&documents[200..])];
    let mut n_that_differ_without = 0;
    for text in [
        "king",
        "jay",
        "nowhere king",
        "king spain",
        "+king +spain history",
        "king -spain",
        "\"new york\"",
        "\"york new\"~3 jay",
        "title:\"king of\" city",
        "{title^3 body}:(king jay)",
        "{title^2 + body}:(king jay city)",
        "MAX [jay title:city]~0.3",
        "jay^3 (king OR mice)^0.5",
        "kind:a jay",
        "price:3 city",
        "price:[2 TO 4] +jay",
        "cit* jay",
        "(jay city history)~2",
    ] {
        let query = whole.parse(text).unwrap();
        for (k1, b) in [(1.2, 0.75), (0.4, 0.3)] {
            let search = |searcher: &Searcher, statistics: IdfScope| {
                let search = searcher.search(&query).bm25("body", k1, b);
                scores(search.statistics(statistics))
            };
            let (mut all, request) = (CollectionStatistics::default(), SearchRequest::new(&query));
            for shard in &shards {
                all.add(&shard.collection_statistics(&request).unwrap());
            }
            assert_eq!(all, whole.collection_statistics(&request).unwrap(), "{text}");
            let all = IdfScope::Collection(Arc::new(all));
            let expected = merged(std::slice::from_ref(&whole), |searcher| {
                search(searcher, IdfScope::Snapshot)
            });
            assert_eq!(merged(&shards, |it| search(it, all.clone())), expected, "{text}");
            let own = merged(&shards, |it| search(it, IdfScope::Snapshot));
            n_that_differ_without += usize::from(own != expected);

            // As it is sent to a shard.
            let request = whole.search(&query).statistics(all).request().clone().into_owned();
            let sent = request.to_json().unwrap();
            assert_eq!(SearchRequest::from_json(&sent).unwrap(), request, "{sent}");
        }
    }
    assert!(n_that_differ_without > 20, "{n_that_differ_without}: shards differ by themselves");
}

#[test]
fn numbers_that_are_missing_are_asked_for() {
    let searcher = index(&documents());
    let query = searcher.parse("title:king title:spain").unwrap();
    let other = searcher.parse("title:king").unwrap();
    let given = searcher.collection_statistics(&SearchRequest::new(&other)).unwrap();
    let run = |given: CollectionStatistics| {
        searcher.search(&query).statistics(IdfScope::Collection(given.into())).run()
    };
    let error = run(given.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(
        error.to_string(),
        "ranking by statistics of a collection: expected the number of documents with 'spain' in 'title', found none; \
         ask each shard for its collection statistics with the same query, and add them up"
    );
    let error = run(CollectionStatistics::default()).unwrap_err();
    assert!(error.to_string().contains("with 'king' in 'title', found none"), "{error}");
    let mut known = given;
    known.add_term("title", "spain", 5);
    assert_eq!(known.term("title", b"spain"), Some(5));
    run(known).unwrap();
}
