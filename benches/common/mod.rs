//! Input that the benchmarks share: generated from a seed, the same on every machine.
//!
//! A benchmark says `mod common;` and takes what it needs.

#[allow(unused, reason = "what its tests use; they run with the example")]
#[path = "../../examples/generate_titles/titles.rs"]
mod generator;
#[path = "../../examples/generate_titles/words/mod.rs"]
mod words;

/// `n` distinct titles as the dump has them, a line each, without the header line.
pub(crate) fn titles(n: u64) -> Vec<u8> {
    let mut lines = Vec::with_capacity(n as usize * 24);
    let mut titles = generator::Titles::new(n, 1);
    while titles.write_next(&mut lines) {
        lines.push(b'\n');
    }
    lines
}
