//! What is worth knowing of a plan or a run first: sentences, each about one node, with what can be done about it.

/// One sentence about a plan or what happened when it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that found it, a name that does not change: `wide expansion`.
    pub rule: String,
    /// How much it matters.
    pub severity: Severity,
    /// The node it is about, by its id; `None` where it is about the whole search.
    pub node: Option<String>,
    /// The field of the facet it is about, if any.
    pub facet: Option<String>,
    /// What was found.
    pub message: String,
    /// What can be done about it, if anything.
    pub remedy: Option<String>,
}

/// How much a [`Finding`] matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Good to know.
    #[default]
    Note,
    /// Something could be faster, or is not what it seems.
    Hint,
    /// Most of the time or memory is spent here, or the answer is not what was asked for.
    Warning,
}

impl Severity {
    /// The name in JSON: `note`, `hint` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Hint => "hint",
            Severity::Warning => "warning",
        }
    }
}
