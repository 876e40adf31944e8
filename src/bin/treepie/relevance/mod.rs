//! Quality of a ranking. Files and measures of `treepie eval`, by the judgements of people, are those of the Text
//! REtrieval Conference (TREC); neighbours of vectors have a truth, which `treepie bench` compares with.

mod measures;
mod trec;
mod truth;

pub(crate) use measures::Measures;
pub(crate) use trec::{Run, Topic, read_judgements, read_topics};
pub(crate) use truth::{read_truth, recall, similarity};
