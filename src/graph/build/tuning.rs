//! Numbers that decide how good a graph is, and how long it takes.

/// Numbers that a build goes by.
#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    /// Most vectors of a leaf.
    pub(crate) leaf: usize,
    /// Leaders for as many vectors as a leaf has.
    pub(crate) leaders_of_leaf: usize,
    /// Most leaders among which one is chosen.
    pub(crate) leaders_max: usize,
    /// Leaders with whom a vector goes at each depth; one below.
    pub(crate) fan: &'static [usize],
    /// Nearest of a leaf that become candidates.
    pub(crate) nearest: usize,
    /// Most candidates of a vector.
    pub(crate) capacity: usize,
    /// Candidates that are so many times nearer to a neighbour are none.
    pub(crate) slack: f32,
    /// Most links of a vector, but for those that make others reached.
    pub(crate) degree: usize,
}

impl Tuning {
    /// Numbers found by measuring.
    pub(crate) const DEFAULT: Tuning = Tuning {
        leaf: 512,
        leaders_of_leaf: 2,
        leaders_max: 256,
        fan: &[8, 3],
        nearest: 4,
        capacity: 48,
        slack: 1.2,
        degree: 32,
    };
}
