//! What allocates and what must not.

use crate::heap::during;
use treepie::search::{Order, TotalMode};
use treepie::storage::ReadMode;
use treepie::writer::{BadLines, LineFormat};
use treepie::{Document, Hit, Index, Schema, SearchBuilder};

/// An index of two segments, with words in a half, a third, a fortieth and few of its documents.
fn words_by_modulus() -> Index {
    let index = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..20_000u32 {
        let mut title = String::from("every one");
        for (word, modulus) in
            [("two", 2), ("three", 3), ("forty", 40), ("rare", 900), ("single", 20_000)]
        {
            if n % modulus == 0 {
                title.push(' ');
                title.push_str(word);
            }
        }
        writer.add(Document::new().with("title", title)).unwrap();
        if n == 7_000 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    drop(writer);
    index
}

#[test]
fn a_search_of_a_few_words_or_of_a_phrase_allocates_its_hits_and_nothing_else() {
    let searcher = words_by_modulus().searcher().unwrap();
    type Wanted = for<'s> fn(SearchBuilder<'s>) -> SearchBuilder<'s>;
    let wanted: [(&str, Wanted); 4] = [
        ("best", |search| search.total(TotalMode::Unknown)),
        ("best, counted", |search| search),
        ("in order", |search| search.order(Order::Document)),
        ("count", |search| search.count_only()),
    ];
    for text in [
        "two",
        "rare",
        "absent",
        "two three",
        "two absent",
        "rare single",
        "+two +three",
        "+two +rare",
        "+rare +single",
        "+two -three",
        "+rare -two",
        "two three forty rare single",
        "\"every one\"",
        "\"two three\"",
        "\"forty rare\"",
        "\"two forty rare\"",
        "\"forty single\"",
        "\"three two\"",
    ] {
        let query = searcher.parse(text).unwrap();
        for (what, wanted) in wanted {
            let run =
                || wanted(searcher.search(&query).limit(10)).fields::<&str>([]).run().unwrap();
            let (first, again) = (run(), run());
            let kept = searcher.scratch_bytes();
            let (found, heap) = during(run);
            let most = u64::from(found.hits.capacity() > 0);
            assert_eq!(heap.allocations, most, "{text}, {what}: {heap:?}");
            let total = first.total;
            assert_eq!((&found.hits, found.total), (&first.hits, total), "{text}, {what}");
            assert_eq!((&found.hits, found.total), (&again.hits, total), "{text}, {what}");
            // Nothing stays allocated but the hits: the scratch has all that it needs.
            let bytes = found.hits.capacity() * size_of::<Hit>();
            assert_eq!(heap.live, bytes as i64, "{text}, {what}");
            assert_eq!(searcher.scratch_bytes(), kept, "{text}, {what}");
        }
        let count = || searcher.count(&query).unwrap();
        count();
        assert_eq!(during(count).1.allocations, 0, "counting {text}");
    }
    assert!(searcher.scratch_bytes() < 1 << 20);
}

#[test]
fn a_prepared_search_answered_again_allocates_nothing() {
    let searcher = words_by_modulus().searcher().unwrap();
    let queries = [
        "two",
        "rare",
        "absent",
        "two three",
        "+two +three",
        "+two +rare",
        "rare single",
        "two three forty rare single",
        "+two three forty",
        "+two rare single",
        "+two -three",
        "+every^=0 +(two three)",
        "+rare -two three",
        "+(two three) +(forty rare)",
        "\"two three\"",
        "\"two forty rare\"",
        "\"forty single\"",
        "\"three two\"~2",
        "\"every one t\"*",
        "\"two three\" forty",
        "t*",
        "+t* forty",
        "threa~1 two",
        "MAX [two three rare]~0.5",
        "*",
        "NOT two",
    ];
    for text in queries {
        let query = searcher.parse(text).unwrap();
        for total in [TotalMode::Exact, TotalMode::UpTo(100), TotalMode::Unknown] {
            for (offset, limit) in [(0, 10), (5, 100), (0, 0)] {
                let search = || searcher.search(&query).offset(offset).limit(limit).total(total);
                let plain = search().fields::<&str>([]).run().unwrap();
                let mut prepared = search().prepare().unwrap();
                prepared.run().unwrap();
                let kept = searcher.scratch_bytes();
                let (page, heap) = during(|| prepared.run().unwrap());
                let what = format!("{text}, {total:?}, {limit} from {offset}");
                assert_eq!(heap.allocations, 0, "{what}: {heap:?}");
                let docs = page.hits.iter().map(|at| (at.doc, at.score));
                let hits = plain.hits.iter().map(|hit| (hit.doc, hit.score));
                assert!(docs.eq(hits), "{what}");
                assert_eq!(page.total, plain.total, "{what}");
                assert_eq!(searcher.scratch_bytes(), kept, "{what}");
            }
        }
    }
    assert!(searcher.scratch_bytes() < 1 << 20);
}

#[test]
fn a_planned_count_taken_again_allocates_nothing() {
    let index = words_by_modulus();
    let searcher = index.searcher().unwrap();
    let queries = [
        "two",
        "two AND three",
        "two OR three",
        "two AND three AND forty",
        "two OR three OR forty OR rare OR single",
        "rare AND two",
        "single OR rare",
        "NOT (two OR three)",
        "+two -three -forty",
        "every AND (two OR rare) AND NOT (forty OR single)",
        "absent OR two",
        "absent AND two",
        "\"two three\"",
        "\"every one two\" AND \"three forty\"",
        "\"forty two\"~<>3 OR \"three for\"*",
        "\"every absent\"",
        "*",
    ];
    for query in queries {
        let parsed = searcher.parse(query).unwrap();
        let mut prepared = searcher.search(&parsed).count_only().prepare().unwrap();
        let first = prepared.run().unwrap().total;
        let (second, heap) = during(|| prepared.run().unwrap().total);
        assert_eq!(first, second, "{query}");
        assert_eq!(heap.allocations, 0, "{query}");
    }
}

/// Titles of several words each, none the same.
fn titles(n: u32) -> String {
    let word = |n: u32| format!("{:x}", n.wrapping_mul(2_654_435_761) >> 12);
    (0..n).map(|i| format!("{}_{}_{i} ({})\n", word(i), word(i % 5_000), word(i % 100))).collect()
}

#[test]
fn an_open_index_needs_next_to_no_heap() {
    // A short name of one length: the heap has the paths of files, too.
    let parent = std::env::temp_dir().join(format!("tp{:08}", std::process::id()));
    let _ = std::fs::remove_dir_all(&parent);
    for n_titles in [1_000, 400_000] {
        let dir = parent.join(n_titles.to_string());
        std::fs::create_dir_all(&dir).unwrap();
        let index = Index::create(&dir, LineFormat::titles().schema().unwrap()).unwrap();
        let mut writer = index.writer().unwrap();
        let (lines, format) = (titles(n_titles), LineFormat::titles());
        writer.add_lines(lines.as_bytes(), &format, BadLines::Refuse).unwrap();
        writer.commit().unwrap();
        drop((writer, index));
        let bytes: u64 = std::fs::read_dir(&dir)
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();

        for mode in [ReadMode::Mmap, ReadMode::Pread] {
            let (open, heap) = during(|| {
                let index = Index::options().read_mode(mode).open(&dir).unwrap();
                let searcher = index.searcher().unwrap();
                (index, searcher)
            });
            let bar = 4096 + 16 * bytes.div_ceil(1 << 20) as i64;
            // Seen with `--nocapture`.
            println!("{bytes} bytes, {mode:?}: {heap:?}, at most {bar} bytes live");
            assert!(heap.live <= bar, "{bytes} bytes, {mode:?}: {heap:?}, at most {bar}");
            // Both opened the commit; what is read without a mapping is bytes while it is looked at.
            if mode == ReadMode::Mmap {
                assert!(
                    heap.bytes <= 2 * bar as u64,
                    "{bytes} bytes: {heap:?}, at most twice {bar}"
                );
            }
            assert_eq!(open.1.n_docs(), u64::from(n_titles));
            // Where only one of the two is kept, it keeps less.
            let live = heap.live + during(|| drop(open.0)).1.live;
            assert!(live <= heap.live);
            assert_eq!(live + during(|| drop(open.1)).1.live, 0, "what was allocated is freed");
        }
    }
    std::fs::remove_dir_all(&parent).unwrap();
}
