//! Facets: which values of a field do the matching documents have, and how many of them each?
//!
//! `cargo run --example facets`

use treepie::writer::{BadLines, LineFormat};
use treepie::{Facet, Index};

const TITLES: &[u8] = include_bytes!("../corpus/titles.txt");

fn main() -> treepie::Result<()> {
    // The preset's keyword field `qualifier` is what stands in parentheses at a title's end.
    let index = Index::in_memory(LineFormat::titles().schema()?);
    let mut writer = index.writer()?;
    writer.add_lines(TITLES, &LineFormat::titles(), BadLines::Refuse)?;
    writer.commit()?;
    let searcher = index.searcher()?;

    // One search gives the hits, the total and any number of facets. Here no hit is wanted.
    for text in ["*", "london", "history AND (france OR spain)"] {
        let query = searcher.parse(text)?;
        let found = searcher.search(&query).count_only().facet("qualifier", 4).run()?;
        let facet = &found.facets[0];
        println!("{text}: {} titles", found.total.value);
        for bucket in &facet.buckets {
            println!("  {:>5}  {}", bucket.count, bucket.value);
        }
        // With one value a document at the most, the rest is known too.
        println!("  {:>5}  other qualifiers", facet.other.unwrap_or_default());
        println!("  {:>5}  without one\n", facet.missing);
    }

    // Choosing a value is a query like any other; as a selection it leaves the facet of its own field as it was, and shows
    // what could be chosen instead. Values may also come by value, and be searched themselves.
    let query = searcher.parse("london")?;
    let facet = Facet::values("qualifier").limit(3).by_value().containing("film");
    let page = searcher.search(&query).select("qualifier", ["film"]).with_facet(facet).run()?;
    println!("films about London: {}", page.total.value);
    for bucket in &page.facets[0].buckets {
        println!("  {:>5}  {}", bucket.count, bucket.value);
    }

    // The terms of a text field can be counted as well: which words go with `history`?
    let query = searcher.parse("history")?;
    let words: Vec<String> = searcher
        .facets(&query, "title", 8)?
        .buckets
        .into_iter()
        .map(|bucket| format!("{} {}", bucket.value, bucket.count))
        .collect();
    println!("words beside history: {}", words.join(", "));
    Ok(())
}
