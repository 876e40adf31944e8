//! Sizes of tests: some run under Miri too, which takes some thousand times as long. There they repeat less, and leave out
//! no kind of what they try.

/// `all`; under Miri, `few`.
pub(crate) const fn unless_miri<T: Copy>(all: T, few: T) -> T {
    if cfg!(miri) { few } else { all }
}

/// All of these; under Miri the first of each `n`.
pub(crate) fn each_unless_miri<T>(
    all: impl IntoIterator<Item = T>,
    n: usize,
) -> impl Iterator<Item = T> {
    all.into_iter().step_by(unless_miri(1, n))
}
