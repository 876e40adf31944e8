//! Adding to an index while it is being searched.
//!
//! A searcher stays on the commit it was opened on, for as long as it likes and at no cost to the
//! writer. `reload` gives a searcher of the newest commit, which shares what both have in common.
//!
//! `cargo run --example append_and_reload`

use std::{sync::mpsc, thread};

use treepie::{Document, Index, Schema};

const DAYS: [&[&str]; 3] = [
    &["Ferry late again", "New librarian starts on Monday"],
    &["Ferry on time for once", "Rain", "Chess club meets in the library"],
    &["Ferry sold"],
];

fn main() -> treepie::Result<()> {
    // The first commit makes the index, or replaces what an earlier run of this example left.
    let new = Index::overwrite("news.tp", Schema::builder().text("headline").build()?)?;
    append(&new, DAYS[0])?;

    // Whoever opens it adds to it.
    let index = Index::open("news.tp")?;
    let first = index.searcher()?;
    let (committed, news) = mpsc::channel();
    thread::scope(|scope| {
        let writing = scope.spawn(|| write_days(&index, committed));

        // Here the one who searches is told of commits; asking every second would do as well.
        let mut newest = first.clone();
        for () in news {
            // Two commits may have come at once; then the second word of them is no news.
            let Some(reloaded) = newest.reload()? else { continue };
            newest = reloaded;
            let query = newest.parse("ferry")?;
            println!(
                "commit {}: {} of {} headlines are about the ferry",
                newest.generation(),
                newest.count(&query)?,
                newest.n_docs()
            );
        }
        writing.join().expect("the writer does not panic")
    })?;

    // What was there in the beginning is still there for whoever began then.
    println!("the first searcher still sees {} headlines", first.n_docs());

    // Every commit left a segment. Merging makes them one and changes no answer.
    let merged = index.merge()?;
    println!("merged: {} documents in {} segment", merged.documents, merged.segments);
    Ok(())
}

/// One writer at a time; each gives the lock back when it is dropped.
fn write_days(index: &Index, committed: mpsc::Sender<()>) -> treepie::Result<()> {
    for day in &DAYS[1..] {
        append(index, day)?;
        // If nobody listens any more, there is nothing to tell.
        let _ = committed.send(());
    }
    Ok(())
}

fn append(index: &Index, headlines: &[&str]) -> treepie::Result<()> {
    let mut writer = index.writer()?;
    for headline in headlines {
        writer.add(Document::new().with("headline", *headline))?;
    }
    writer.commit()?;
    Ok(())
}
