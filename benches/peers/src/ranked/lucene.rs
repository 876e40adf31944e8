//! Lucene, which runs in no process of ours: how its times related to tantivy's where both were
//! measured in turn.
//!
//! Geometric means over queries of Lucene's time / tantivy's time for the same query: Lucene 10.6.0
//! (OpenJDK 21, 512-bit vectors, query cache off, `TopScoreDocCollectorManager`), tantivy 0.27.0,
//! same tokens, one segment, one thread, 2026-11-20, two cores of a Xeon with AVX-512, minimum of 5
//! to 7 passes, on 292,138 articles, 2,122,907 titles and 10,000,000 generated lines.

use super::{
    corpus::Name,
    engine::Command,
    questions::Class::{self, And2, And3, Or2, Or3, Phrase2, Phrase3, Prefix, Term},
};

/// The classes of the tables below, in their order.
const CLASSES: [Class; 8] = [Term, And2, And3, Or2, Or3, Phrase2, Phrase3, Prefix];

/// Lucene's time by tantivy's, where it was measured.
pub(crate) fn ratio_to_tantivy(corpus: Name, command: Command, class: Class) -> Option<f64> {
    let ratios: [f64; 8] = match (corpus, command) {
        (Name::Articles, Command::Count) => [1.80, 1.75, 1.48, 1.86, 0.76, 1.63, 2.29, 0.96],
        (Name::Articles, Command::Top10) => [1.77, 1.57, 1.16, 1.44, 0.84, 1.44, 2.19, 0.54],
        (Name::Articles, Command::Top10Count) => [1.40, 1.40, 1.37, 1.92, 1.94, 1.43, 2.26, 1.17],
        (Name::Titles, Command::Count) => [1.83, 2.02, 2.04, 1.16, 1.36, 1.61, 1.84, 0.68],
        (Name::Titles, Command::Top10) => [1.70, 1.61, 1.57, 2.71, 2.53, 1.49, 1.64, 0.46],
        (Name::Titles, Command::Top10Count) => [1.65, 1.68, 1.68, 2.31, 2.14, 1.47, 1.66, 0.58],
        (Name::Lines, Command::Count) => [1.97, 1.41, 1.55, 0.59, 1.09, 1.59, 1.76, 0.78],
        (Name::Lines, Command::Top10) => [1.35, 0.89, 0.63, 1.61, 1.83, 1.32, 1.40, 0.29],
        (Name::Lines, Command::Top10Count) => [1.49, 1.15, 1.16, 1.71, 1.67, 1.34, 1.43, 0.66],
        (_, Command::Top100 | Command::Top1000) => return None,
    };
    let at = CLASSES.iter().position(|known| *known == class)?;
    Some(ratios[at])
}
