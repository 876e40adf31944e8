//! The whole way once: open or create an index, fill it, commit, search it.
//!
//! `cargo run --example hello` leaves the index in `hello.tp`; look at it with
//! `cargo run -- inspect hello.tp`.

use treepie::{Document, Index, Schema};

const FILMS: &[(&str, &str, &str, &[&str])] = &[
    ("f1", "The Harbour at Night", "1948", &["drama", "crime"]),
    ("f2", "Night Train to London", "1956", &["thriller"]),
    ("f3", "London, Paris, and Back by Tuesday", "1963", &["comedy"]),
    ("f4", "A Library of Our Own", "1963", &["drama"]),
    ("f5", "The Night the Index Burned", "2004", &["comedy", "crime"]),
];

fn main() -> treepie::Result<()> {
    // A text field is cut into words. The values of a keyword field are exact, and so is the key: each document has its own.
    let schema =
        Schema::builder().key("id").text("title").keyword("year").keyword("genre").build()?;

    // The second run opens the index of the first. Its films replace those with the same keys.
    let index = Index::open_or_create("hello.tp", schema)?;
    let mut writer = index.writer()?;
    for (id, title, year, genres) in FILMS {
        let mut film = Document::new().with("id", *id).with("title", *title).with("year", *year);
        for genre in *genres {
            film.push("genre", *genre);
        }
        writer.add(film)?;
    }
    // Nothing can be found before this returns, and nothing can be lost after.
    let commit = writer.commit()?;
    println!("commit {} has {} documents", commit.generation, commit.documents);

    // A searcher sees the commit it was opened on, whatever is written meanwhile.
    let searcher = index.searcher()?;
    for text in ["night", "london OR library", "night -london", "genre:crime AND year:1948"] {
        let query = searcher.parse(text)?;
        let page = searcher.search(&query).limit(3).run()?;
        println!("\n{text}: {} found", page.total.value);
        for hit in &page.hits {
            println!("  {} ({}), {}", hit.fields["title"], hit.fields["year"], hit.fields["genre"]);
        }
    }

    // A query that cannot be read says where.
    let error = searcher.parse("night AND (london").unwrap_err();
    println!("\n{error}");
    Ok(())
}
