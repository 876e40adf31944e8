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
//! TREEPIE_PROCESSES_SOAK=3600 cargo test --test processes soak -- --nocapture
//! TREEPIE_PROCESSES_SYNCS=12 cargo test --test processes full_disk -- --nocapture
//! TREEPIE_PROCESSES_TITLES=2000000 cargo test --test processes memory -- --nocapture
//! TREEPIE_PROCESSES_LARGE=1 cargo test --test processes large -- --nocapture --test-threads=1
//! ```

#![cfg(unix)]

mod access;
mod content;
mod creating;
mod full_disk;
mod kills;
mod large;
mod locks;
mod memory;
mod opening;
mod place;
mod process;
mod roles;
mod sandbox;
mod soak;
