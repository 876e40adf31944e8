//! The whole way once: create an index, fill it, commit, search it.
//!
//! `cargo run --example hello` leaves the index in `hello.tp`; look at it with
//! `cargo run -- inspect hello.tp`.

use treepie::{Document, Index, Schema};

const FILMS: &[(&str, &str, &[&str])] = &[
    ("The Harbour at Night", "1948", &["drama", "crime"]),
    ("Night Train to London", "1956", &["thriller"]),
    ("London, Paris, and Back by Tuesday", "1963", &["comedy"]),
    ("A Library of Our Own", "1963", &["drama"]),
    ("The Night the Index Burned", "2004", &["comedy", "crime"]),
];

fn main() -> treepie::Result<()> {
    // A text field is cut into words. The values of a keyword field are exact.
    let schema = Schema::builder().text("title").keyword("year").keyword("genre").build()?;

    // `create` would refuse the index that an earlier run of this example left.
    let index = Index::overwrite("hello.tp", schema)?;
    let mut writer = index.writer()?;
    for (title, year, genres) in FILMS {
        let mut film = Document::new().with("title", *title).with("year", *year);
        for genre in *genres {
            film.push("genre", *genre);
        }
        writer.add(film)?;
    }
    // Nothing can be found before this returns, and nothing can be lost after.
    let commit = writer.commit()?;
    println!("commit {} has {} documents", commit.generation, commit.documents);

    // A searcher sees the commit it was opened on, whatever is written meanwhile.
    let searcher = Index::open("hello.tp")?.searcher()?;
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
