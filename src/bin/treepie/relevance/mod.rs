//! How good a ranking is, by the judgements of people: what `treepie eval` reads, measures and
//! writes, in the files and by the definitions of the Text REtrieval Conference (TREC).

mod measures;
mod trec;

pub(crate) use measures::Measures;
pub(crate) use trec::{Run, Topic, read_judgements, read_topics};
