//! Quality of a ranking, by the judgements of people. Files and measures of `treepie eval` are those of the Text
//! REtrieval Conference (TREC).

mod measures;
mod trec;

pub(crate) use measures::Measures;
pub(crate) use trec::{Run, Topic, read_judgements, read_topics};
