//! The targets of `tests/damage/targets.rs` for `cargo fuzz`, which looks for inputs that reach new code.
//!
//! ```text
//! cargo install cargo-fuzz
//! RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir tests/fuzz segment -- -max_total_time=60
//! RUSTC_BOOTSTRAP=1 cargo fuzz cmin --fuzz-dir tests/fuzz segment
//! ```
//!
//! `corpus/` is replayed by `cargo test --test damage`, without any of this; what a run has found and is worth keeping
//! goes there.

#![allow(dead_code, reason = "the files are shared with tests that use more of them")]

#[path = "../../damage/golden.rs"]
mod golden;
#[path = "../../damage/seals.rs"]
mod seals;
#[path = "../../damage/targets.rs"]
mod targets;
#[path = "../../damage/walked.rs"]
mod walked;

/// A target under its own name.
macro_rules! targets {
    ($($name:ident)*) => {
        $(
            /// Feeds the target of this name.
            pub fn $name(data: &[u8]) {
                targets::$name(data);
            }
        )*
    };
}

targets!(manifest segment section roaring query_text pattern analyzer query_and_segment graph);
