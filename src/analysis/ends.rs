//! Ends of words that a text from a pattern has.

/// Ends of a word that a text of a pattern has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) first: bool,
    pub(crate) last: bool,
}

impl Ends {
    /// A text that is a whole word.
    pub(crate) const BOTH: Ends = Ends { first: true, last: true };
    /// A text from the middle of one.
    pub(crate) const NONE: Ends = Ends { first: false, last: false };
}
