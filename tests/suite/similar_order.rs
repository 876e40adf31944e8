//! Indexes whose documents lie in the order of similarity: they answer as others do, with the same scores, whatever made the order.

use crate::random::Random;
use crate::segment_order::{
    QUERIES, Twins, assert_same, bytes_of_segment, fields, ids, merge, options,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use treepie::schema::SIMILARITY_DOCS_MIN;
use treepie::storage::MemoryStorage;
use treepie::writer::Progress;
use treepie::{
    After, Budget, CancelToken, Document, ErrorKind, Index, IndexWriter, Schema, Searcher,
    WriterOptions,
};

/// By query the scores of all that matches, to the last bit.
fn scores(searcher: &Searcher) -> Vec<BTreeMap<String, u32>> {
    let of = |text: &str| {
        let query = searcher.parse(text).unwrap();
        let hits = searcher.search(&query).limit(1_000_000).run().unwrap().hits;
        hits.iter()
            .map(|hit| (hit.fields["id"].to_string(), hit.score.unwrap_or_default().to_bits()))
            .collect()
    };
    QUERIES.into_iter().map(of).collect()
}

fn assert_same_scores(twins: &Twins, what: &str) {
    let searchers = twins.searchers();
    let [ours, expected] = [&searchers[0], &searchers[1]].map(scores);
    for ((text, ours), expected) in QUERIES.into_iter().zip(ours).zip(expected) {
        assert!(ours == expected, "{what}: {text}");
    }
}

/// The one is put in order, the other is only merged.
fn reorder_one(twins: &mut Twins) {
    twins.writers[0].reorder().unwrap();
    twins.writers[1].merge().unwrap();
}

#[test]
fn an_index_in_the_order_of_similarity_answers_as_one_without() {
    for seed in 1..=4 {
        let mut random = Random(seed * 77);
        let plain = || fields().build().unwrap();
        // Whether the schema says so does not matter to what is asked for.
        let similar = match seed % 2 {
            0 => fields().order_by_similarity(["title", "note"]).build().unwrap(),
            _ => plain(),
        };
        let mut twins = Twins::new([similar, plain()]);
        (0..1_100).for_each(|_| twins.add(&mut random));
        for step in 0..60 {
            twins.step(&mut random);
            if step % 20 == 19 {
                reorder_one(&mut twins);
                let what = format!("{seed} after step {step}");
                assert_same(&twins, &[], &what);
                assert_same_scores(&twins, &what);
            }
        }
        // Of several segments, of which the first lies in another order, and with deletes.
        twins.each(|writer| {
            writer.commit().unwrap();
        });
        assert_same(&twins, &[], &format!("{seed} at the end"));
        reorder_one(&mut twins);
        let order = ids(&twins.searchers()[0]);
        assert_ne!(order, ids(&twins.searchers()[1]), "{seed}");
        // As if they had been added in this order: byte for byte the same file.
        twins.writers.clear();
        let by_id: BTreeMap<&str, _> = twins.model.iter().map(|it| (&*it.id, it)).collect();
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), plain()).unwrap();
        for half in order.chunks(order.len() / 2 + 1) {
            let mut writer = index.writer_with(options()).unwrap();
            half.iter().for_each(|id| writer.add(by_id[&**id].document.clone()).unwrap());
            writer.commit().unwrap();
        }
        merge(&storage);
        let len = |storage: &MemoryStorage| bytes_of_segment(storage).len();
        assert_eq!(len(&twins.storages[0]), len(&storage), "{seed}");
    }
}

/// Documents of topics, mixed: a word of the topic and one of few documents.
fn topics(n: u32) -> impl Iterator<Item = Document> {
    (0..n).map(|nth| {
        let topic = nth.wrapping_mul(2_654_435_761) >> 13 & 63;
        let text = format!("topic{topic} both{} rare{}", topic / 2, nth * 7 % 5_003);
        Document::new().with("id", nth.to_string()).with("text", text)
    })
}

fn schema() -> Schema {
    Schema::builder().key("id").text("text").build().unwrap()
}

fn similar() -> Schema {
    schema().ordered_by_similarity::<&str>([]).unwrap()
}

/// How often documents next to each other are of other topics.
fn n_borders(index: &Index) -> usize {
    let searcher = index.searcher().unwrap();
    let all = searcher.parse("*").unwrap();
    let (mut topics, mut after) = (vec![], None::<After>);
    loop {
        let mut search = searcher.search(&all).limit(10_000);
        if let Some(last) = after {
            search = search.after(last);
        }
        let hits = search.run().unwrap().hits;
        let Some(last) = hits.last() else { break };
        after = Some(After::score(last.score.unwrap_or_default(), last.doc));
        let topic = |text: &str| text.split(' ').next().unwrap().to_owned();
        topics.extend(hits.iter().map(|hit| topic(&hit.fields["text"].to_string())));
    }
    assert_eq!(topics.len() as u64, searcher.n_docs(), "each document is on one page");
    topics.windows(2).filter(|two| two[0] != two[1]).count()
}

fn add(writer: &mut IndexWriter, documents: impl Iterator<Item = Document>) {
    documents.for_each(|document| writer.add(document).unwrap());
}

#[test]
fn large_segments_are_put_in_order_and_small_ones_stay() {
    let n = SIMILARITY_DOCS_MIN;
    let is_ordered = |index: &Index| n_borders(index) < n as usize / 10;
    let index = Index::in_memory(similar());
    let mut writer = index.writer().unwrap();
    // Some replace others of this commit.
    add(&mut writer, topics(n - 100).chain(topics(1_000)));
    writer.commit().unwrap();
    assert!(!is_ordered(&index), "{} borders", n_borders(&index));
    // One segment already, but for what is deleted of it, and still too small.
    writer.merge().unwrap();
    assert!(!is_ordered(&index));
    add(&mut writer, topics(n).skip(n as usize - 100));
    writer.merge().unwrap();
    assert_eq!(index.searcher().unwrap().n_docs(), u64::from(n));
    assert!(is_ordered(&index), "{} borders", n_borders(&index));
    let report = index.inspect().unwrap();
    assert!(report.verify(|error| panic!("{error}")).is_sound());

    // What is added at once, and what a job merges.
    let index = Index::in_memory(similar());
    let mut writer = index.writer_with(WriterOptions::new().threads(2)).unwrap();
    add(&mut writer, topics(n));
    writer.commit().unwrap();
    assert!(is_ordered(&index), "{} borders", n_borders(&index));
    let index = Index::in_memory(similar());
    let policy = treepie::writer::MergePolicy::default().factor(2);
    let mut writer = index.writer_with(WriterOptions::new().merge_policy(policy)).unwrap();
    for half in [0, n / 2] {
        add(&mut writer, topics(n).skip(half as usize).take(n as usize / 2));
        writer.commit().unwrap();
    }
    let job = writer.begin_merge().unwrap().unwrap();
    writer.delete_key("7").unwrap();
    writer.commit().unwrap();
    let merged = job.run(&CancelToken::new()).unwrap();
    assert!(writer.finish_merge(merged).unwrap());
    assert!(is_ordered(&index), "{} borders", n_borders(&index));
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.count(&searcher.parse("id:7").unwrap()).unwrap(), 0);
    // Without being asked for it, nothing changes its place.
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    add(&mut writer, topics(n));
    writer.commit().unwrap();
    assert!(!is_ordered(&index));
    writer.reorder().unwrap();
    assert!(is_ordered(&index));
}

#[test]
fn any_threads_and_any_memory_that_is_enough_make_the_same_bytes() {
    let made = |options: WriterOptions| {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), schema()).unwrap();
        let mut writer = index.writer_with(options.reproducible_ids([3; 16])).unwrap();
        add(&mut writer, topics(20_000));
        writer.reorder().unwrap();
        assert!(n_borders(&index) < 2_000);
        bytes_of_segment(&storage)
    };
    let expected = made(WriterOptions::new().threads(1));
    for threads in [2, 3, 8] {
        let same = made(WriterOptions::new().threads(threads)) == expected;
        assert!(same, "{threads} threads");
    }
    assert!(made(WriterOptions::new().threads(2).memory_bytes(16 << 20)) == expected);
}

#[test]
fn it_tells_how_far_it_is_and_leaves_everything_where_it_is_stopped() {
    for threads in [1, 2] {
        let index = Index::in_memory(schema());
        let token = CancelToken::new();
        let cancel = token.clone();
        let options = WriterOptions::new().threads(threads).on_progress(move |progress| {
            if matches!(progress, Progress::Reordering { .. }) {
                cancel.cancel();
            }
        });
        let mut writer = index.writer_with(options).unwrap();
        add(&mut writer, topics(30_000));
        writer.commit().unwrap();
        let before = n_borders(&index);
        let stopped = Budget::new().cancel(&token).run(|| writer.reorder()).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Cancelled);
        assert_eq!(n_borders(&index), before);
        writer.reorder().unwrap();
        assert!(n_borders(&index) < before / 10);
    }
}

#[test]
fn an_order_of_fields_and_an_index_without_text_are_refused() {
    let by_id =
        Schema::builder().text("text").field(treepie::Field::new("rank", treepie::FieldKind::I64));
    let index = Index::in_memory(by_id.order_by(["-rank"]).build().unwrap());
    let error = index.writer().unwrap().reorder().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("found the order -rank"), "{error}");
    let index = Index::in_memory(Schema::builder().keyword("k").build().unwrap());
    let error = index.writer().unwrap().reorder().unwrap_err();
    assert!(error.to_string().contains("at least one text field"), "{error}");
    // Nothing to put in order is no mistake.
    let index = Index::in_memory(similar());
    assert_eq!(index.writer().unwrap().reorder().unwrap().segments, 0);
}

#[test]
fn a_schema_keeps_it_in_images_copies_and_with_more_fields() {
    let storage = Arc::new(MemoryStorage::new());
    let mut index = Index::options().create_in(storage.clone(), similar()).unwrap();
    let mut writer = index.writer().unwrap();
    add(&mut writer, topics(100));
    writer.reorder().unwrap();
    let fields = |index: &Index| {
        index.schema().similarity_fields().map(|field| field.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(fields(&Index::open_bytes(index.to_image().unwrap()).unwrap()), ["text"]);
    let other = Index::in_memory(similar());
    let mut theirs = other.writer().unwrap();
    theirs.add_index(&index.searcher().unwrap()).unwrap();
    assert_eq!(theirs.reorder().unwrap().documents, 100);
    let plain = Index::in_memory(schema());
    let refused = plain.writer().unwrap().add_index(&index.searcher().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("in another order"), "{refused}");
    drop(writer);
    let saved = Arc::new(MemoryStorage::new());
    Index::options().salvage_storage(&*storage, saved.clone()).unwrap();
    assert_eq!(fields(&Index::options().open_storage(saved).unwrap()), ["text"]);
    index.add_fields([treepie::Field::new("more", treepie::FieldKind::Text)]).unwrap();
    assert_eq!(fields(&index), ["text", "more"]);
    let mut writer = index.writer().unwrap();
    add(&mut writer, topics(150));
    assert_eq!(writer.reorder().unwrap().documents, 150);
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
}
