//! Numbers that nobody can guess and that are the same every time.

/// A generator of them, given where it begins: not 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// One of the first `n` numbers.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    /// The mark of every document, and of these such as one in so many has.
    pub(crate) fn marks(&mut self, of: &[(&'static str, usize)]) -> Vec<&'static str> {
        let some = of.iter().filter(|(_, one_in)| self.below(*one_in) == 0);
        ["every"].into_iter().chain(some.map(|(mark, _)| *mark)).collect()
    }
}
