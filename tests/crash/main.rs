//! What survives: power failures, kills, failing calls, full disks.
//!
//! A writer works on a [simulated disk](disk). After every call that changed the disk the power
//! fails, in [every way](states) or a sample of them; each state that is left is opened by the real
//! code and must be [exactly one commit](oracle), of those that are possible, and a writer must be
//! able to go on from there. While it does, the power fails again. What a protocol may get wrong is
//! [planted](bugs) and must be found.
//!
//! `cargo test` runs a short form. Longer ones, and one seed again:
//!
//! ```text
//! TREEPIE_CRASH_STATES=10000000 cargo test --test crash power_failure_at -- --nocapture
//! TREEPIE_CRASH_SEED=17 cargo test --test crash power_failure_at -- --nocapture
//! ```

mod bugs;
mod copying;
mod creating;
mod disk;
mod faults;
mod graphs;
mod older_format;
mod oracle;
mod power;
mod recovery;
mod states;
mod system_calls;
mod workload;
