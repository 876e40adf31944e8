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
}
