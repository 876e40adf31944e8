//! How a query is answered: the plan, then the plan with what happened, then the plan as data.
//!
//! `cargo run --example explain`

use treepie::Index;
use treepie::writer::{BadLines, LineFormat};

const TITLES: &[u8] = include_bytes!("../corpus/titles.txt");

fn main() -> treepie::Result<()> {
    let index = Index::in_memory(LineFormat::titles().schema()?);
    let mut writer = index.writer()?;
    writer.add_lines(TITLES, &LineFormat::titles(), BadLines::Refuse)?;
    writer.commit()?;
    let searcher = index.searcher()?;
    let query = searcher.parse("history AND (france OR spain) -war")?;

    // The plan alone reads the dictionary and the headers of posting lists, no postings
    // but, for phrases, those of a few documents.
    println!("{}", searcher.explain(&query)?);

    // The same tree after it ran: documents, containers, bytes and time of each node.
    let tree = searcher.search(&query).analyze()?;
    println!("{tree}");

    // The tree is plain data. Where did the planner guess worst?
    let worst = tree
        .plan
        .iter()
        .filter_map(|node| Some((node.q_error()?, node)))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    if let Some((error, node)) = worst {
        println!(
            "furthest off: {} {} estimated {}, off by a factor of {error:.1}",
            node.operator, node.label, node.estimate.documents
        );
    }

    // What cannot match is known before anything is read.
    let nothing = searcher.parse("history AND xyzzy")?;
    println!("\n{}", searcher.explain(&nothing)?);
    Ok(())
}
