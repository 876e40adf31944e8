//! What every engine has to offer, and what is asked of it.

use std::path::Path;

use super::{corpus::Corpus, questions::Question};
use crate::Result;

/// An open index with one segment that answers on one thread.
///
/// A method gives `None` where the engine has no such query or command; a figure is then missing
/// for that class, never made up. The time of a call is what is measured: it begins with the text
/// of the query, so parsing and looking words up are in it.
pub(crate) trait Engine {
    /// How many documents match.
    fn count(&mut self, question: &Question) -> Result<Option<u64>>;

    /// The `k` best documents.
    fn top(&mut self, question: &Question, k: usize) -> Result<Option<Top>>;

    /// The `k` best documents, and how many match.
    fn top_and_count(&mut self, question: &Question, k: usize) -> Result<Option<(Top, u64)>>;
}

/// What is checked of the best documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Top {
    /// How many there are: `k`, or all that match.
    pub(crate) n: usize,
}

/// An engine by name: how to build its index and how to open it.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) role: Role,
    /// Indexes the corpus into an empty directory, with one thread, leaving one segment.
    pub(crate) build: fn(&Corpus, &Path) -> Result<()>,
    pub(crate) open: fn(&Path) -> Result<Box<dyn Engine>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// What is being judged; its index is built anew for every run.
    Own,
    /// What it is judged by.
    Peer,
    /// A peer that has the documents in an order of its own choice: shown, but not among the best.
    Reordered,
}

/// A command of the search benchmark game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Top10,
    Top100,
    Top1000,
    Top10Count,
    Count,
}

impl Command {
    pub(crate) const ALL: [Command; 5] =
        [Command::Top10, Command::Top100, Command::Top1000, Command::Top10Count, Command::Count];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Command::Top10 => "TOP_10",
            Command::Top100 => "TOP_100",
            Command::Top1000 => "TOP_1000",
            Command::Top10Count => "TOP_10_COUNT",
            Command::Count => "COUNT",
        }
    }

    /// Runs the command; `None` where the engine does not offer it for the question's class.
    pub(crate) fn run(self, engine: &mut dyn Engine, on: &Question) -> Result<Option<Answer>> {
        Ok(match self {
            Command::Count => {
                engine.count(on)?.map(|count| Answer { count: Some(count), top: None })
            }
            Command::Top10 | Command::Top100 | Command::Top1000 => {
                engine.top(on, self.k())?.map(|top| Answer { count: None, top: Some(top) })
            }
            Command::Top10Count => engine
                .top_and_count(on, 10)?
                .map(|(top, count)| Answer { count: Some(count), top: Some(top) }),
        })
    }

    /// How many documents the command asks for.
    pub(crate) fn k(self) -> usize {
        match self {
            Command::Top10 | Command::Top10Count => 10,
            Command::Top100 => 100,
            Command::Top1000 => 1000,
            Command::Count => 0,
        }
    }
}

/// What a command gave, for the cross-check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) count: Option<u64>,
    pub(crate) top: Option<Top>,
}
