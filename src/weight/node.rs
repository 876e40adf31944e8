//! Tree that combines score parts of a query into the score of a document.

use crate::error::Result;
use crate::recycle::FreeLists;

/// [`Logical`](crate::query::Logical), resolved: terms, phrases and sets are numbers among those of the query.
#[derive(Debug)]
pub(crate) enum Node {
    Term(usize),
    Phrase(usize),
    /// A word in several fields that are taken for one.
    Combined(usize),
    /// Neighbours of a vector, each by how near it is.
    Nearest {
        nth: usize,
        /// The set of all of them.
        set: usize,
    },
    /// Documents that all score the same.
    Set {
        set: usize,
        score: f32,
    },
    /// All of `must`, none of `must_not`, and so many of `should` as `minimum` says.
    Sum {
        must: Vec<Node>,
        should: Vec<Node>,
        must_not: Vec<Node>,
        minimum: u32,
    },
    /// The best, and `tie` times the others.
    Max {
        any: Vec<Node>,
        tie: f32,
    },
}

/// Scores of one document for the parts of a query.
pub(crate) trait Scores {
    /// Score of a term; `None` if it is not there.
    fn term(&mut self, nth: usize) -> Result<Option<f32>>;
    /// Score of a phrase; `None` if it is not there.
    fn phrase(&mut self, nth: usize) -> Result<Option<f32>>;
    /// Score of a word of several fields; `None` if it is in none of them.
    fn combined(&mut self, nth: usize) -> Result<Option<f32>>;
    /// Score of a neighbour; `None` if the document is none.
    fn nearest(&mut self, nth: usize) -> Option<f32>;
    /// Whether the document is in a set.
    fn is_in(&mut self, set: usize) -> bool;
}

impl Node {
    /// Stands where nothing was looked up yet.
    pub(super) const NOTHING: Node =
        Node::Sum { must: vec![], should: vec![], must_not: vec![], minimum: 1 };

    /// The number of a term, if it is one.
    pub(crate) fn term(&self) -> Option<usize> {
        match self {
            Node::Term(nth) => Some(*nth),
            _ => None,
        }
    }

    /// Keeps the memory of its lists.
    pub(crate) fn give(self, free: &mut FreeLists<Node>) {
        let lists = match self {
            Node::Sum { must, should, must_not, .. } => [must, should, must_not],
            Node::Max { any, .. } => [any, vec![], vec![]],
            Node::Term(_)
            | Node::Phrase(_)
            | Node::Combined(_)
            | Node::Nearest { .. }
            | Node::Set { .. } => return,
        };
        for mut list in lists {
            list.drain(..).for_each(|node| node.give(free));
            free.give(list);
        }
    }

    /// The score of a document; `None` where it does not match. The only place where scores are added up for
    /// anything but plain sums of terms, so that they are the same to the last bit however a document is found.
    pub(crate) fn score(&self, document: &mut impl Scores) -> Result<Option<f32>> {
        match self {
            Node::Term(nth) => document.term(*nth),
            Node::Phrase(nth) => document.phrase(*nth),
            Node::Combined(nth) => document.combined(*nth),
            Node::Nearest { nth, .. } => Ok(document.nearest(*nth)),
            Node::Set { set, score, .. } => Ok(document.is_in(*set).then_some(*score)),
            Node::Sum { must, should, must_not, minimum } => {
                for part in must_not {
                    if part.score(document)?.is_some() {
                        return Ok(None);
                    }
                }
                let mut sum = 0.0;
                for part in must {
                    match part.score(document)? {
                        Some(score) => sum += score,
                        None => return Ok(None),
                    }
                }
                let mut n_matching = 0;
                for part in should {
                    if let Some(score) = part.score(document)? {
                        sum += score;
                        n_matching += 1;
                    }
                }
                Ok((n_matching >= *minimum).then_some(sum))
            }
            Node::Max { any, tie } => {
                let (mut best, mut others) = (None::<f32>, 0.0);
                for part in any {
                    let Some(score) = part.score(document)? else { continue };
                    match best {
                        Some(so_far) if score <= so_far => others += score,
                        so_far => {
                            others += so_far.unwrap_or(0.0);
                            best = Some(score);
                        }
                    }
                }
                Ok(best.map(|best| best + tie * others))
            }
        }
    }

    /// The score of every document that matches, where all have the same: added up as [`score`](Self::score) does.
    pub(crate) fn constant(&self) -> Option<f32> {
        match self {
            Node::Set { score, .. } => Some(*score),
            Node::Sum { must, should, minimum: 0, .. } if should.is_empty() && !must.is_empty() => {
                must.iter().try_fold(0.0, |sum, part| Some(sum + part.constant()?))
            }
            _ => None,
        }
    }

    /// The most that a document scores, added up as [`score`](Self::score) does; `of_part` says it of a part without parts.
    /// `None` where nobody knows, or where it depends on the order in which scores are rounded.
    pub(crate) fn greatest(&self, of_part: &impl Fn(&Node) -> Option<f32>) -> Option<f32> {
        match self {
            Node::Term(_)
            | Node::Phrase(_)
            | Node::Combined(_)
            | Node::Nearest { .. }
            | Node::Set { .. } => of_part(self),
            Node::Sum { must, should, .. } => {
                let mut parts = must.iter().chain(should);
                parts.try_fold(0.0, |sum, part| Some(sum + part.greatest(of_part)?))
            }
            Node::Max { any, tie } if *tie == 0.0 => {
                any.iter().try_fold(0.0f32, |best, part| Some(best.max(part.greatest(of_part)?)))
            }
            Node::Max { .. } => None,
        }
    }

    /// Calls `visit` with the sets of which all must match.
    pub(crate) fn each_set(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Node::Set { set, .. } => visit(*set),
            Node::Sum { must, .. } => must.iter().for_each(|part| part.each_set(visit)),
            _ => {}
        }
    }

    /// Calls `visit` with terms that suffice: every document of one matches, and scores no less than by it alone.
    pub(crate) fn each_sufficient(&self, visit: &mut impl FnMut(usize)) {
        match self {
            Node::Term(nth) => visit(*nth),
            Node::Phrase(_) | Node::Combined(_) | Node::Nearest { .. } | Node::Set { .. } => {}
            Node::Sum { must, should, must_not, minimum } => {
                if !must_not.is_empty() {
                    return;
                }
                match (&must[..], minimum) {
                    ([only], 0) => only.each_sufficient(visit),
                    ([], 0 | 1) => should.iter().for_each(|part| part.each_sufficient(visit)),
                    _ => {}
                }
            }
            Node::Max { any, .. } => any.iter().for_each(|part| part.each_sufficient(visit)),
        }
    }
}
