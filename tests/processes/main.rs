//! What only several real processes, a real kernel and a real file system show: kills, locks, permissions,
//! full disks, memory, files beyond 4 GiB.
//!
//! The binary starts itself [again](process) in the roles that a test needs. What a machine cannot do (mount without
//! being root, change the user) is left out, and said so.
//!
//! A kill loses nothing that was written, synced or not: what syncing is for shows under the simulated power failures
//! of `tests/crash` only, and in the file system of [`full_disk`] whose sync fails.
//!
//! `cargo test` runs a short form. Longer ones:
//!
//! ```text
//! TREEPIE_PROCESSES_KILLS=10000 cargo test --test processes kills -- --nocapture
//! TREEPIE_PROCESSES_OPENS=1000000 cargo test --test processes opening -- --nocapture
//! ```

#![cfg(unix)]

mod content;
mod kills;
mod locks;
mod opening;
mod place;
mod process;
mod roles;
