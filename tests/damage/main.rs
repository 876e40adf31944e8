//! Damage: whatever happens to the bytes of an index, it answers right or says what is wrong.
//!
//! [One index](golden) that has everything is opened again and again with one thing [wrong](changes):
//! a byte, a burst, a sector, a length, a file. [Everything](questions) that can be asked must then get
//! a typed error or exactly the answer of the sound index, and verification must see every change of a file that is
//! [in use](accidents). A second round puts [right checksums](seals) on the changed bytes, as somebody who means
//! harm would: then nothing may [panic, abort, take long or much memory](hostile). All of it is [guarded](guard).
//!
//! `cargo test` runs a short form, a sample by a seed. Longer ones, and another sample:
//!
//! ```text
//! TREEPIE_DAMAGE=all cargo test --release --test damage -- --nocapture
//! TREEPIE_DAMAGE=100000 TREEPIE_DAMAGE_SEED=17 cargo test --test damage no_changed_byte -- --nocapture
//! ```

mod accidents;
mod changes;
mod failing;
mod golden;
mod guard;
#[path = "../heap/mod.rs"]
mod heap;
mod hostile;
mod neighbours;
mod ordered;
mod questions;
mod recovery;
mod replay;
mod seals;
mod targets;
mod walked;

/// How many changes to try where `short` is enough for `cargo test`.
fn mutations(short: usize) -> usize {
    match std::env::var("TREEPIE_DAMAGE") {
        Ok(all) if all == "all" => usize::MAX,
        Ok(n) => n.parse().expect("TREEPIE_DAMAGE is a number or `all`"),
        Err(_) => short,
    }
}

/// Where the sample begins.
fn seed() -> u64 {
    std::env::var("TREEPIE_DAMAGE_SEED").map_or(1, |seed| seed.parse().expect("a number"))
}
