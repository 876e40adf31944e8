//! Memory that was freed, back to the system.
//!
//! An allocator keeps what was freed for what comes next. A build whose files need the page cache has more of that where the
//! allocator lets go of it.

/// Asks the allocator of the C library for pages that nobody uses, on Linux with glibc. Other allocators keep what they
/// have; what is in use stays where it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a call that no maintained crate has as a safe function")]
pub(crate) fn give_back_free_memory() {
    // SAFETY: takes a number and touches nothing but what the allocator of the C library holds as free, under its own locks.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: the system has no such call.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back_free_memory() {}
